import { html, useEffect, useRef, useState } from "../../../vendor/preact.js";
import { run } from "../../state/actions.js";
import { DigitCanvas } from "../../components/digit-canvas.js";
import { NONE, percent } from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { useProgress } from "../../training/use-training.js";
import { sureness } from "./digit-verdict.js";
import { Predictor } from "./predictor.js";

const DIGITS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/**
 * A drawing area, and the current network's prediction. While it is hidden, the drawing is kept.
 * @param {{isShown: boolean, title: any}} props `title`: of the main picture
 */
export function DigitPanel({ isShown, title }) {
  const [answer, setAnswer] = useState(
    /** @type {import("./predictor.js").Answer} */ ({
      probabilities: null,
      label: null,
      problem: "",
    }),
  );
  const predictor = useRef(/** @type {Predictor | null} */ (null));
  predictor.current ??= new Predictor(setAnswer);

  const known = store.hasModel.value && isShown;
  const engine = store.engine.value;
  const past = store.past.value;
  const shrunk = store.shrunk.value;
  const changed = () => predictor.current?.modelChanged(known);
  // The weights change with each step, and the prediction with them.
  useProgress(changed);
  // A question to a Python that was restarted is asked again.
  useEffect(changed, [known, engine, past, shrunk]);

  const { probabilities, label, problem } = answer;
  return html`
    <section class="digit" aria-labelledby="picture-title" hidden=${!isShown}>
      <div class="panel-head">
        ${title}
        <p class="verdict" role="status">${sureness(probabilities, label)}
          <output data-testid="digit-prediction">${label ?? NONE}</output>
          ${label !== null && probabilities && html`<span>${percent(probabilities[label], 0)}</span>`}</p>
      </div>
      <div class="digit-body">
        <${DigitCanvas} onDraw=${(/** @type {Float32Array | null} */ image) =>
          predictor.current?.drawn(image)} />
        <div class="digit-answer">
          <ol class="probabilities" aria-label=${t().digits.probabilities}>
            ${DIGITS.map(
              (digit) => html`
              <${Bar} key=${digit} digit=${digit} value=${probabilities?.[digit] ?? null}
                isBest=${digit === label} />
            `,
            )}
          </ol>
          <p class="hint" data-testid="digit-hint">${problem || (known ? "" : t().digits.before)}</p>
          ${
            !known &&
            label !== null &&
            !store.active.value &&
            html`<button type="button" class="button small"
            data-testid="train-yourself" onClick=${run}>${t().digits.trainYours}</button>`
          }
        </div>
      </div>
    </section>
  `;
}

/** @param {{digit: number, value: number | null, isBest: boolean}} props */
function Bar({ digit, value, isBest }) {
  return html`
    <li class="probability" data-best=${isBest ? "" : undefined}>
      <span class="probability-digit">${digit}</span>
      <span class="probability-track" aria-hidden="true">
        <span class="probability-fill" style=${{ transform: `scaleX(${value ?? 0})` }}></span>
      </span>
      <span class="probability-value">${percent(value, 1)}</span>
    </li>
  `;
}
