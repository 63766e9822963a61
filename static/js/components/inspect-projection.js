import { html, useMemo, useRef, useState } from "../../vendor/preact.js";
import { classNames } from "../class-names.js";
import { percent, tick } from "../format.js";
import { askProjection, isWrong } from "../inspect-samples.js";
import { t } from "../locale.js";
import { readPalette } from "../palette.js";
import { aligned } from "../projection.js";
import { floats } from "../task.js";
import { theme } from "../theme.js";
import { useLook } from "../use-look.js";
import { PointLegend } from "./point-legend.js";
import { ProjectionBoard } from "./projection-board.js";
import { SampleCard, verdictOf } from "./sample-list.js";

/**
 * @import { PointsView, Samples } from "../inspect-samples.js"
 * @typedef {{points: Float32Array, rows: Float32Array}} Placed `rows`: the numbers of the samples
 */

/** More classes than these have no legend. */
const MOST_IN_LEGEND = 16;

/** The samples as points: where a layer of the network puts them, seen from the side that shows most. */
export function ProjectionPanel() {
  const [layer, setLayer] = useState("");
  const { answer, problem } = useLook(() => askProjection(layer), [layer]);
  const words = t().inspectProjection;
  return html`
    <div class="inspect-body">
      ${problem && html`<p class="hint" data-failed role="status">${problem}</p>`}
      ${!answer && !problem && html`<p class="hint">${t().inspect.asking}</p>`}
      ${answer?.shows === "none" && html`<p class="hint" data-testid="projection-none">${
        answer.reason === "layers" ? words.noLayers : t().inspectSamples.none[answer.reason]}</p>`}
      ${answer?.shows === "points" && html`
        <div class="projection-controls">
          <label class="toggle">${words.layer} <select data-testid="projection-layer" value=${answer.view.layer}
            onChange=${(/** @type {Event} */ event) => setLayer(/** @type {HTMLSelectElement} */ (event.target).value)}>
            ${answer.view.layers.map(({ name, size }) => html`<option key=${name} value=${name} selected=${name === answer.view.layer}>
              ${words.layerOf(name, size)}</option>`)}
          </select></label>
        </div>
        <${Points} key=${answer.view.layer} view=${answer.view} samples=${answer.samples} />`}
    </div>
  `;
}

/** @param {{view: PointsView, samples: Samples}} props */
function Points({ view, samples }) {
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const before = useRef(/** @type {Placed | null} */ (null));
  const placed = useMemo(() => {
    const rows = floats(view.rows);
    const next = { rows, points: aligned(floats(view.points), rows, before.current) };
    return (before.current = next);
  }, [view]);
  const name = theme.value;
  const palette = useMemo(readPalette, [name]);
  const words = t().inspectProjection;
  const { data, truth } = samples;
  const range = useMemo(() => rangeOf(truth), [data]);
  if (placed.rows.length < 2) {
    return html`<p class="hint" data-testid="projection-none">${words.tooFew(placed.rows.length, view.projected)}</p>`;
  }
  const at = chosen === null ? -1 : placed.rows.indexOf(chosen);
  const wrong = placed.rows.filter((row) => isWrong(samples, row)).length;
  const left = view.projected - placed.rows.length;
  const [first, second] = view.explained;
  return html`
    <p class="hint">${words.explained(percent(first + second, 1), percent(first, 1), percent(second, 1))}
      ${" "}${words.shown(t().inspectSamples.samples(placed.rows.length, data.total, data.tested))}
      ${data.classes > 0 && ` ${words.wrong(wrong)}`}${left > 0 && html` <b class="sample-nan">${words.leftOut(left)}</b>`}</p>
    <div class="projection">
      <${ProjectionBoard} placed=${placed} samples=${samples} palette=${palette} range=${range} chosen=${at}
        label=${words.picture(view.layer, placed.rows.length)}
        onChoose=${(/** @type {number} */ point) => setChosen(point < 0 ? null : placed.rows[point])} />
      <div class="projection-side">
        ${data.classes <= MOST_IN_LEGEND && html`<${PointLegend} classes=${data.classes} palette=${palette} range=${range} names=${classNames()} />`}
        <div class="projection-sample" data-testid="projection-sample" role="status">
          ${at < 0 ? html`<p class="hint">${words.choose}</p>` : html`<${SampleCard} key=${chosen} samples=${samples} at=${chosen} />`}
        </div>
      </div>
    </div>
    <${Values} placed=${placed} samples=${samples} />
  `;
}

/** The table behind the picture. @param {{placed: Placed, samples: Samples}} props */
function Values({ placed, samples }) {
  const [isOpen, setOpen] = useState(false);
  const words = t().inspectProjection;
  return html`
    <details class="projection-table" onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
      <summary>${words.table}</summary>
      ${isOpen && html`<div class="sample-scroll" tabindex="0" role="region" aria-label=${words.table}><table class="sample-table" data-testid="projection-table">
        <thead><tr><th scope="col">${words.sample}</th><th scope="col">1</th><th scope="col">2</th>
          <th scope="col">${t().inspectSamples.truth}</th><th scope="col">${t().inspectSamples.predicted}</th></tr></thead>
        <tbody>${Array.from(placed.rows, (row, at) => {
          const { truth, predicted } = verdictOf(samples, row);
          return html`<tr key=${row} data-wrong=${isWrong(samples, row) ? "" : undefined}>
            <td>${row + 1}</td><td>${tick(placed.points[2 * at])}</td><td>${tick(placed.points[2 * at + 1])}</td>
            <td>${truth}</td><td class="sample-said">${predicted}</td></tr>`;
        })}</tbody>
      </table></div>`}
    </details>
  `;
}

/** The lowest and the highest number. @param {Float32Array} values @returns {[number, number]} */
const rangeOf = (values) =>
  values.reduce(([low, high], each) => [Math.min(low, each), Math.max(high, each)], [Infinity, -Infinity]);
