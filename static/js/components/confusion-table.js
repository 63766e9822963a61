import { html } from "../../vendor/preact.js";
import { nameOfClass } from "../words/class-names.js";
import { confusionOf } from "../pictures/confusion.js";
import { count, percent } from "../words/format.js";
import { t } from "../words/locale.js";

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
  const { counts, right } = confusionOf(labels, view.predicted, classes);
  const rows = t().task.rows(labels.length, total, tested);
  const [before, after] = t().task.confusion(rows, percent(right / Math.max(1, labels.length), 1));
  return html`
    <div class="confusion">
      <p class="hint">${before}<b data-testid="confusion-right">${count(right)}</b>${after}</p>
      <${ConfusionCounts} counts=${counts} names=${names} testId="confusion" content=${count} />
    </div>
  `;
}

/**
 * The table of a confusion matrix, in shades.
 * @param {{counts: number[][], names: string[], testId: string,
 *          content: (cell: number, label: number, predicted: number) => any}} props
 *   `content`: of a cell
 */
export function ConfusionCounts({ counts, names, testId, content }) {
  const head = (/** @type {number} */ label, /** @type {"row" | "col"} */ scope) => {
    const name = nameOfClass(label, names);
    return html`<th key=${scope + label} scope=${scope} title=${name}>${name}</th>`;
  };
  return html`
    <div class="confusion-scroll"><table data-testid=${testId}>
      <thead><tr><td></td>${counts.map((_, label) => head(label, "col"))}</tr></thead>
      <tbody>${counts.map(
        (row, label) => html`<tr key=${label}>
        ${head(label, "row")}
        ${row.map(
          (
            cell,
            predicted,
          ) => html`<td key=${predicted} data-right=${label === predicted ? "" : undefined}
          data-shade=${shadeOf(cell, row)}>${content(cell, label, predicted)}</td>`,
        )}
      </tr>`,
      )}</tbody>
    </table></div>
  `;
}

/** How dark a cell is: its part of the row, 0 for nothing. @param {number} cell @param {number[]} row */
const shadeOf = (cell, row) =>
  Math.ceil(
    (SHADES * cell) /
      Math.max(
        1,
        row.reduce((a, b) => a + b, 0),
      ),
  );
