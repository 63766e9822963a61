import { html } from "../../vendor/preact.js";
import { count, percent } from "../format.js";
import { t } from "../locale.js";

/**
 * @import { ClassData, TaskView } from "../../engine/messages.js"
 * @typedef {Extract<TaskView, {shows: "classes"}>} ClassesView
 */

/** How many steps of colour a cell has. */
const SHADES = 5;

/**
 * How often each class was predicted for rows of each class: a confusion matrix.
 * @param {{view: ClassesView, names: string[]}} props `names`: of classes, as far as known
 */
export function ConfusionTable({ view, names }) {
  const { labels, classes, tested, total } = /** @type {ClassData} */ (view.data);
  const counts = Array.from({ length: classes }, () => new Array(classes).fill(0));
  labels.forEach((label, row) => {
    if (counts[label]?.[view.predicted[row]] !== undefined) counts[label][view.predicted[row]] += 1;
  });
  const right = counts.reduce((sum, row, label) => sum + row[label], 0);
  const nameOf = (/** @type {number} */ label) => names[label] ?? t().task.classNumber(label);
  const rows = t().task.rows(labels.length, total, tested);
  const [before, after] = t().task.confusion(rows, percent(right / Math.max(1, labels.length), 1));
  return html`
    <div class="confusion">
      <p class="hint">${before}<b data-testid="confusion-right">${count(right)}</b>${after}</p>
      <div class="confusion-scroll"><table data-testid="confusion">
        <thead><tr><td></td>${counts.map((_, label) => html`<th key=${label} scope="col" title=${nameOf(label)}>${nameOf(label)}</th>`)}</tr></thead>
        <tbody>${counts.map((row, label) => html`<tr key=${label}>
          <th scope="row" title=${nameOf(label)}>${nameOf(label)}</th>
          ${row.map((cell, predicted) => html`<td key=${predicted} data-right=${label === predicted ? "" : undefined}
            data-shade=${shadeOf(cell, row)}>${count(cell)}</td>`)}
        </tr>`)}</tbody>
      </table></div>
    </div>
  `;
}

/** How dark a cell is: its part of the row, 0 for nothing. @param {number} cell @param {number[]} row */
const shadeOf = (cell, row) => Math.ceil((SHADES * cell) / Math.max(1, row.reduce((a, b) => a + b, 0)));
