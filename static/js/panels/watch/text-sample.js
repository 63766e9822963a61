import { html, useEffect } from "../../../vendor/preact.js";
import { TokenBar } from "../../components/token-bar.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";

/**
 * @import { TaskView, TextData } from "../../../engine/messages.js"
 * @typedef {Extract<TaskView, {shows: "text"}>} TextView
 */

const TEMPERATURE = { least: 0, most: 1.5, step: 0.1 };
const MOST_SEEDS = 2 ** 31;

/** Text that the network continues from a prompt, and the tokens that it expects first. @param {{view: TextView}} props */
export function TextSample({ view }) {
  const data = /** @type {TextData} */ (view.data);
  const { prompt, temperature, seed } = store.sample.value;
  const change = (/** @type {Partial<typeof store.sample.value>} */ changes) => {
    store.sample.value = { ...store.sample.value, ...changes };
  };

  // A prompt that was typed is for the text that the network learned then.
  useEffect(() => {
    if (store.sample.value.from !== data.prompt) change({ from: data.prompt, prompt: null });
  }, [data.prompt]);

  const words = t().sample;
  const shownPrompt = prompt ?? data.prompt;
  return html`
    <div class="sample">
      <div class="sample-controls" data-no-picture>
        <label class="sample-prompt"><span>${words.prompt(data.unit, data.least)}</span>
          <textarea rows="2" spellcheck="false" autocomplete="off" data-testid="sample-prompt" value=${shownPrompt}
            aria-invalid=${view.problem ? "true" : undefined} aria-describedby=${view.problem ? "sample-problem" : undefined}
            onInput=${(/** @type {{currentTarget: HTMLTextAreaElement}} */ { currentTarget }) => change({ prompt: currentTarget.value })}></textarea>
        </label>
        <div class="sample-chance">
          <label for="sample-temperature">${words.temperature}</label>
          <input type="range" id="sample-temperature" data-testid="sample-temperature" min=${TEMPERATURE.least}
            max=${TEMPERATURE.most} step=${TEMPERATURE.step} value=${temperature} aria-valuetext=${temperature.toFixed(1)}
            title=${words.temperatureAbout(data.unit)}
            onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ { currentTarget }) => change({ temperature: Number(currentTarget.value) })} />
          <output for="sample-temperature">${temperature.toFixed(1)}</output>
          <button type="button" class="button small" data-testid="sample-again" disabled=${temperature === 0}
            title=${temperature === 0 ? words.onlyOne : words.anotherAbout}
            onClick=${() => change({ seed: (seed + 1) % MOST_SEEDS })}>${words.another}</button>
          ${
            prompt !== null &&
            prompt !== data.prompt &&
            html`<button type="button" class="button quiet small"
            data-testid="sample-reset" onClick=${() => change({ prompt: null })}>${words.fromData}</button>`
          }
        </div>
      </div>
      ${view.problem && html`<p class="sample-problem" id="sample-problem" role="alert" data-testid="sample-problem">${view.problem}</p>`}
      <div class="sample-text" role="region" aria-label=${words.written} tabindex="0" data-testid="sample"
        ><span class="sample-begin">${view.prompt}</span><span class="sample-written" data-testid="sample-written">${view.predicted}</span
        >${store.runState.value === "running" && html`<span class="sample-caret" aria-hidden="true"></span>`}</div>
      ${
        view.expected.length > 0 &&
        html`
        <h3 id="sample-next">${words.next(data.unit)}</h3>
        <ol class="probabilities sample-expected" aria-labelledby="sample-next" data-testid="sample-expected">
          ${view.expected.map(({ token, chance }, at) => html`<${TokenBar} key=${at} token=${token} chance=${chance} isBest=${at === 0} />`)}
        </ol>`
      }
    </div>
  `;
}
