import { html, useEffect, useState } from "../../../vendor/preact.js";
import { nextTokensView } from "../../engine/questions.js";
import { percent, rate } from "../../words/format.js";
import { sampleNumber } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { visible } from "../../words/tokens.js";
import { NextTokensBoard } from "./next-tokens-board.js";
import { SampleSteps } from "./sample-steps.js";
import { useView } from "./use-view.js";

/**
 * @import { NextTokensView } from "../../../engine/messages.js"
 * @typedef {Extract<NextTokensView, {shows: "tokens"}>} Expecting
 */

const TEMPERATURE = { least: 0, most: 2, step: 0.1 };

/** What a network that writes text expects at each position. */
export function NextTokensPanel() {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [temperature, setTemperature] = useState(1);
  const sample = sampleNumber.value;
  useEffect(() => setText(null), [sample]);
  const { answer, problem } = useView(
    () => nextTokensView({ text, sample, temperature }),
    [text, sample, temperature],
  );
  const words = t().inspectNext;
  return html`
    <div class="inspect-body">
      ${problem && html`<p class="hint" data-failed role="status">${problem}</p>`}
      ${!answer && !problem && html`<p class="hint">${t().inspect.asking}</p>`}
      ${answer?.shows === "none" && html`<p class="hint" data-testid="next-none">${words.none[answer.reason]}</p>`}
      ${
        answer?.shows === "tokens" &&
        html`
        <div class="sample-controls">
          <div class="next-source">
            <label class="sample-prompt"><span>${words.text(answer.unit, answer.least)}</span>
              <textarea rows="2" spellcheck="false" autocomplete="off" data-testid="next-text" value=${text ?? answer.text}
                aria-invalid=${answer.problem ? "true" : undefined} aria-describedby=${answer.problem ? "next-problem" : undefined}
                onInput=${(/** @type {{currentTarget: HTMLTextAreaElement}} */ { currentTarget }) => setText(currentTarget.value)}></textarea>
            </label>
            <p class="inspect-steps">
              <span role="status" data-testid="next-sample">${
                text === null
                  ? t().inspectLayers.sample(
                      answer.sample.number,
                      answer.sample.count,
                      answer.sample.tested,
                    )
                  : words.own
              }</span>
              ${
                text === null
                  ? html`<${SampleSteps} count=${answer.sample.count} />`
                  : html`<button type="button" class="button quiet small" data-testid="next-reset" onClick=${() => setText(null)}>${words.fromData}</button>`
              }
            </p>
          </div>
          <div class="sample-chance">
            <label for="next-temperature">${t().sample.temperature}</label>
            <input type="range" id="next-temperature" data-testid="next-temperature" min=${TEMPERATURE.least} max=${TEMPERATURE.most}
              step=${TEMPERATURE.step} value=${temperature} aria-valuetext=${temperature.toFixed(1)} title=${words.temperatureAbout}
              onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ { currentTarget }) => setTemperature(Number(currentTarget.value))} />
            <output for="next-temperature">${temperature.toFixed(1)}</output>
          </div>
        </div>
        ${answer.problem && html`<p class="sample-problem" id="next-problem" role="alert" data-testid="next-problem">${answer.problem}</p>`}
        ${
          answer.predictions.length > 0 &&
          html`
          <p class="hint" data-testid="next-summary">${words.about(answer.unit, answer.length)}${summary(answer)}${
            answer.tokens.length < answer.total &&
            ` ${words.cut(answer.unit, answer.tokens.length, answer.total)}`
          }</p>
          <${NextTokensBoard} view=${answer} />
          <${Table} view=${answer} />`
        }`
      }
    </div>
  `;
}

/** How well the network expected the text. @param {Expecting} view */
function summary({ unit, predictions, perplexity }) {
  const came = predictions.flatMap((each) => each.came ?? []);
  if (came.length === 0) return "";
  return ` ${t().inspectNext.summary(unit, came.filter(({ rank }) => rank === 1).length, came.length, perplexity === null ? "∞" : rate(perplexity))}`;
}

/** The numbers at each position. @param {{view: Expecting}} props */
function Table({ view: { tokens, predictions } }) {
  const [isOpen, setOpen] = useState(false);
  const words = t().inspectNext;
  return html`
    <details class="projection-table" data-testid="next-details"
      onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
      <summary>${words.table}</summary>
      ${
        isOpen &&
        html`<div class="sample-scroll" tabindex="0" role="region" aria-label=${words.table}><table class="sample-table next-table" data-testid="next-table">
        <thead><tr>${words.columns.map((title) => html`<th key=${title} scope="col">${title}</th>`)}</tr></thead>
        <tbody>${predictions.map(
          ({ position, top, came }) => html`<tr key=${position}>
          <td>${position + 1}</td><td>${visible(tokens[position])}</td>
          <td>${came && visible(came.token)}</td><td data-value=${came?.chance}>${came && percent(came.chance, 1)}</td><td>${came?.rank}</td>
          <td data-top=${JSON.stringify(top.map(({ token, chance }) => [token, chance]))}>${top
            .map(({ token, chance }) => `${visible(token)} ${percent(chance, 1)}`)
            .join(" · ")}</td></tr>`,
        )}</tbody>
      </table></div>`
      }
    </details>
  `;
}
