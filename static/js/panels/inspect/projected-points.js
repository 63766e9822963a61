import { html, useMemo, useState } from "../../../vendor/preact.js";
import { classNames } from "../../words/class-names.js";
import { PointLegend } from "../../components/point-legend.js";
import { tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { readPalette } from "../../pictures/palette.js";
import { theme } from "../../frame/theme.js";
import { isWrong } from "./sample-cache.js";
import { ProjectionBoard } from "./projection-board.js";
import { SampleCard, verdictOf } from "./sample-list.js";

/**
 * @import { PointsView, Samples } from "./sample-cache.js"
 * @typedef {{points: Float32Array, rows: Float32Array}} Placed `rows`: the numbers of the samples
 */

/** More classes than these have no legend. */
const MOST_IN_LEGEND = 16;

/**
 * A picture of points, one of which can be chosen, with a legend and a table.
 * @param {{view: PointsView, samples: Samples, placed: Placed, about: string}} props `about`: how the points were placed
 */
export function ProjectedPoints({ view, samples, placed, about }) {
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
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
  return html`
    <p class="hint">${about}
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
      ${
        isOpen &&
        html`<div class="sample-scroll" tabindex="0" role="region" aria-label=${words.table}><table class="sample-table" data-testid="projection-table">
        <thead><tr><th scope="col">${words.sample}</th><th scope="col">1</th><th scope="col">2</th>
          <th scope="col">${t().inspectSamples.truth}</th><th scope="col">${t().inspectSamples.predicted}</th></tr></thead>
        <tbody>${Array.from(placed.rows, (row, at) => {
          const { truth, predicted } = verdictOf(samples, row);
          return html`<tr key=${row} data-wrong=${isWrong(samples, row) ? "" : undefined}>
            <td>${samples.numbers[row]}</td><td>${tick(placed.points[2 * at])}</td><td>${tick(placed.points[2 * at + 1])}</td>
            <td>${truth}</td><td class="sample-said">${predicted}</td></tr>`;
        })}</tbody>
      </table></div>`
      }
    </details>
  `;
}

/** The lowest and the highest number. @param {Float32Array} values @returns {[number, number]} */
const rangeOf = (values) =>
  values.reduce(
    ([low, high], each) => [Math.min(low, each), Math.max(high, each)],
    [Infinity, -Infinity],
  );
