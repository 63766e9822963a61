import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { titleOf } from "../blocks/field-values.js";
import { Icon } from "../components/icons.js";
import * as format from "../words/format.js";
import { t } from "../words/locale.js";
import { MOST_VALUES, canCompare, enteredValues, suggestedValues } from "./suggested.js";
import {
  begin,
  bestTrial,
  close,
  isTrying,
  keep,
  stop,
  subject,
  trials,
  trialsVersion,
} from "./trials.js";

/** @import { Subject, Trial } from "./trials.js" */

const CHART = { width: 200, height: 76, top: 4 };

/** Chooses values, shows a curve of each while they are tried, and keeps the best. */
export function TrialsDialog() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const version = trialsVersion.value;
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    dialog.current?.showModal();
    return () => before?.focus?.();
  }, []);
  const shown = subject.value;
  if (!shown) return null;
  const words = t().trials;
  const best = bestTrial();
  return html`<dialog class="trials-dialog" data-testid="trials-dialog" aria-labelledby="trials-title" ref=${dialog} onClose=${close}>
    <div class="trials-head">
      <h2 id="trials-title">${words.title(shown.label)}</h2>
      <button type="button" class="button quiet icon-only" aria-label=${words.close} title=${words.close} data-testid="trials-close"
        onClick=${() => dialog.current?.close()}><${Icon} name="close" /></button>
    </div>
    <${Values} shown=${shown} busy=${isTrying()} />
    ${trials.value.length > 0 && html`<${SmallCurves} best=${best} version=${version} />`}
    <p class="visually-hidden" role="status">${!isTrying() && best ? words.bestIs(named(best.value)) : ""}</p>
    ${
      best &&
      !isTrying() &&
      html`<div class="trials-end"><p>${words.bestIs(named(best.value))} ${words.inRuns}</p>
        <button type="button" class="button primary" data-testid="trials-keep" onClick=${() => keep(best)}>${words.keep(named(best.value))}</button></div>`
    }
  </dialog>`;
}

/** A value as it is shown. @param {string} value */
const named = (value) => titleOf(value) || value;

/** @param {{shown: Subject, busy: boolean}} props */
function Values({ shown: { field, text, label }, busy }) {
  const suggested = suggestedValues(field, text);
  const [entered, setEntered] = useState(suggested.join(", "));
  const [chosen, setChosen] = useState(suggested);
  const words = t().trials;
  const isChoice = field.type === "choice";
  const { values, wrong, unclear } = isChoice
    ? { values: chosen, wrong: null, unclear: null }
    : enteredValues(field, entered);
  const problem = unclear
    ? words.unclear(unclear)
    : wrong
      ? words.wrong(wrong, label)
      : canCompare(values.length)
        ? ""
        : words.count(MOST_VALUES);
  const options = isChoice ? [...new Set([text, ...(field.options ?? [])])] : [];
  return html`<form class="trials-values" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    if (!problem && !busy) begin(values);
  }}>
    ${
      isChoice
        ? html`<fieldset class="trials-choices" disabled=${busy}><legend class="visually-hidden">${words.values}</legend>${options.map(
            (
              each,
            ) => html`<label key=${each}><input type="checkbox" checked=${chosen.includes(each)}
              onChange=${() => setChosen(options.filter((option) => (option === each ? !chosen.includes(each) : chosen.includes(option))))} />${named(each)}</label>`,
          )}</fieldset>`
        : html`<label for="trials-entered">${words.values}</label>
          <input id="trials-entered" data-testid="trials-values" value=${entered} disabled=${busy} autocomplete="off" inputmode="text"
            aria-invalid=${Boolean(problem)} aria-describedby="trials-problem" onInput=${(/** @type {any} */ { target }) => setEntered(target.value)} />`
    }
    ${
      busy
        ? html`<button key="stop" type="button" class="button" data-testid="trials-stop" onClick=${stop}>${words.stop}</button>`
        : html`<button key="begin" type="submit" class="button primary" data-testid="trials-begin" disabled=${Boolean(problem)}>${words.begin(values.length)}</button>`
    }
    <p id="trials-problem" class="trials-problem" role="alert">${problem}</p>
    ${trials.value.length === 0 && html`<p class="trials-about">${words.about}</p>`}
  </form>`;
}

/** A small curve for each trial, all on the same scale. @param {{best: Trial | null, version: number}} props `version`: of the trials, which change in place */
function SmallCurves({ best, version }) {
  const losses = trials.value.flatMap(({ curves }) => curves.series.trendLoss).filter(isFinite_);
  const least = Math.min(...losses);
  const range = Math.max(...losses) - least || 1;
  const steps = Math.max(
    1,
    ...trials.value.map(({ fit, progress }) => fit?.total_steps || progress.step),
  );
  return html`<ul class="trials-curves">${trials.value.map(
    (trial) =>
      html`<${Cell} key=${trial.value} ...${{ trial, least, range, steps, version, isBest: trial === best }} />`,
  )}</ul>`;
}

/** @param {number | null} value @returns {value is number} */
const isFinite_ = (value) => value !== null && Number.isFinite(value);

/** @param {{trial: Trial, least: number, range: number, steps: number, version: number, isBest: boolean}} props */
function Cell({ trial, least, range, steps, isBest }) {
  const { curves, result, state, problem } = trial;
  const words = t().trials;
  const { width, height, top } = CHART;
  const points = curves.steps.flatMap((step, at) => {
    const loss = curves.series.trendLoss[at];
    if (!isFinite_(loss)) return [];
    const y = height - ((loss - least) / range) * (height - top);
    return [`${((step / steps) * width).toFixed(1)},${y.toFixed(1)}`];
  });
  const numbers =
    result.testAccuracy !== null
      ? words.testAccuracy(format.percent(result.testAccuracy))
      : result.testLoss !== null
        ? words.testLoss(format.loss(result.testLoss))
        : result.loss !== null
          ? words.loss(format.loss(result.loss))
          : "";
  return html`<li class="trials-cell" data-testid="trial" data-state=${state} data-best=${isBest ? "" : undefined}>
    <strong>${named(trial.value)}${isBest && html` <span class="trials-best">${words.best}</span>`}</strong>
    <svg viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label=${words.curve(named(trial.value))}>
      <polyline points=${points.join(" ")} />
    </svg>
    <span>${state === "error" ? problem || words.states.error : numbers || words.states[state]}</span>
  </li>`;
}
