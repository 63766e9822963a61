import { html, useMemo, useState } from "../../../vendor/preact.js";
import { attentionView } from "../../engine/questions.js";
import { percent, rate } from "../../words/format.js";
import { sampleNumber } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { largestOf } from "../../pictures/plane-colours.js";
import { floats } from "../../training/task.js";
import { visible } from "../../words/tokens.js";
import { AttentionBoard } from "./attention-board.js";
import { SampleSteps } from "./sample-steps.js";
import { useView } from "./use-view.js";
import { usePalette, ValueMap } from "./value-map.js";

/**
 * @import { AttentionView } from "../../../engine/messages.js"
 * @typedef {Extract<AttentionView, {shows: "maps"}>} Maps
 */

/** Which positions of a sample each head of a layer attends to. */
export function AttentionPanel() {
  const [layer, setLayer] = useState("");
  const sample = sampleNumber.value;
  const { answer, problem } = useView(() => attentionView(sample, layer), [sample, layer]);
  const words = t().inspectAttention;
  return html`
    <div class="inspect-body">
      ${problem && html`<p class="hint" data-failed role="status">${problem}</p>`}
      ${!answer && !problem && html`<p class="hint">${t().inspect.asking}</p>`}
      ${answer?.shows === "none" && html`<p class="hint" data-testid="attention-none">${words.none[answer.reason]}</p>`}
      ${
        answer?.shows === "maps" &&
        html`
        <div class="attention-controls">
          <label class="toggle">${words.layer} <select data-testid="attention-layer" value=${answer.layer}
            onChange=${(/** @type {Event} */ event) => setLayer(/** @type {HTMLSelectElement} */ (event.target).value)}>
            ${answer.layers.map(
              ({
                name,
                heads,
              }) => html`<option key=${name} value=${name} selected=${name === answer.layer}>
              ${words.layerOf(name, heads)}</option>`,
            )}
          </select></label>
          <span data-testid="attention-sample" role="status">${t().inspectLayers.sample(
            answer.sample.number,
            answer.sample.count,
            answer.sample.tested,
          )}</span>
          <span class="inspect-steps"><${SampleSteps} count=${answer.sample.count} /></span>
        </div>
        <${Heads} view=${answer} />`
      }
    </div>
  `;
}

/** The map of each head, and that of the chosen one large. @param {{view: Maps}} props */
function Heads({ view }) {
  const [chosen, setChosen] = useState(0);
  const words = t().inspectAttention;
  const palette = usePalette();
  const { heads, queries, keys, total } = view;
  const maps = useMemo(() => {
    const values = floats(view.weights);
    const size = queries * keys;
    return Array.from({ length: heads }, (_, head) =>
      values.subarray(head * size, (head + 1) * size),
    );
  }, [view]);
  const largest = Math.max(...maps.map(largestOf));
  const head = Math.min(chosen, heads - 1);
  const isCut = queries < total.queries || keys < total.keys;
  return html`
    <p class="hint">${words.about}
      ${isCut && ` ${words.cut(queries, total.queries, keys, total.keys)}`}${heads < total.heads && ` ${words.someHeads(heads, total.heads)}`}</p>
    ${
      heads > 1 &&
      html`<div class="attention-heads" role="group" aria-label=${words.heads}>
      ${maps.map(
        (
          map,
          at,
        ) => html`<button key=${at} type="button" class="attention-head" data-testid="attention-head"
        aria-pressed=${at === head} onClick=${() => setChosen(at)}>
        <${ValueMap} values=${map} height=${queries} width=${keys} largest=${largest} palette=${palette} />
        <span>${words.head(at + 1)}</span></button>`,
      )}
    </div>`
    }
    <${AttentionBoard} view=${view} map=${maps[head]} largest=${largest} palette=${palette} label=${words.picture(view.layer, head + 1)} />
    <p class="hint">${words.scale(percent(largest, 1))}</p>
    <${Table} view=${view} map=${maps[head]} />
  `;
}

/** The numbers of the chosen head. @param {{view: Maps, map: Float32Array}} props */
function Table({ view: { queries, keys, query_tokens: to, key_tokens: from }, map }) {
  const [isOpen, setOpen] = useState(false);
  const words = t().inspectAttention;
  const name = (/** @type {string[] | null} */ tokens, /** @type {number} */ at) =>
    tokens ? `${at + 1} ${visible(tokens[at])}` : at + 1;
  const row = (/** @type {number} */ query) =>
    Array.from(map.subarray(query * keys, (query + 1) * keys));
  return html`
    <details class="projection-table" data-testid="attention-details"
      onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
      <summary>${words.table}</summary>
      ${
        isOpen &&
        html`<div class="sample-scroll" tabindex="0" role="region" aria-label=${words.table}><table class="sample-table" data-testid="attention-table">
        <thead><tr><th scope="col">${words.corner}</th>${Array.from({ length: keys }, (_, key) => html`<th key=${key} scope="col">${name(from, key)}</th>`)}</tr></thead>
        <tbody>${Array.from(
          { length: queries },
          (_, query) => html`<tr key=${query}><th scope="row">${name(to, query)}</th>
          ${row(query).map((weight, key) => html`<td key=${key} data-value=${weight}>${rate(weight)}</td>`)}</tr>`,
        )}</tbody>
      </table></div>`
      }
    </details>
  `;
}
