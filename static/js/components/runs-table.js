import { html, useState } from "../../vendor/preact.js";
import * as format from "../format.js";
import { sortedBy } from "../runs.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";

/** @import { Column, Run } from "../runs.js" */

/** @type {{column: Column, title: string}[]} */
const NUMBERS = [
  { column: "step", title: "Steps" },
  { column: "seconds", title: "Time" },
  { column: "loss", title: "Loss (trend)" },
  { column: "testAccuracy", title: "Test accuracy" },
];

/**
 * The runs as a table that can be sorted.
 * @param {{runs: Run[], open: number | null, isShown: (run: Run) => boolean, onShow: (run: Run) => void,
 *          onOpen: (id: number | null) => void, onReport: (run: Run) => void, changes: (run: Run) => string[]}} props
 *   `isShown`: whether its curve is drawn; `open`: the run whose code is shown; `changes`: since the run before
 */
export function RunsTable({ runs, open, isShown, onShow, onOpen, onReport, changes }) {
  const [order, setOrder] = useState({ column: /** @type {Column} */ ("number"), isDescending: true });
  const sortBy = (/** @type {Column} */ column) =>
    setOrder({ column, isDescending: order.column === column ? !order.isDescending : false });
  /** @param {Column} column @param {string} title */
  const header = (column, title) => html`
    <th scope="col" aria-sort=${order.column === column ? (order.isDescending ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort" data-testid=${`runs-sort-${column}`} onClick=${() => sortBy(column)}>${title}
        ${order.column === column && html`<${Icon} name=${order.isDescending ? "down" : "up"} />`}</button>
    </th>
  `;
  return html`
    <div class="tables runs-table" tabindex="0" role="region" aria-label="Table of runs">
      <table data-testid="runs-table">
        <thead><tr>
          ${header("number", "Run")}<th scope="col">Changed since the run before</th>
          ${NUMBERS.map(({ column, title }) => header(column, title))}
          <th scope="col"><span class="visually-hidden">Actions</span></th>
        </tr></thead>
        <tbody>${sortedBy(runs, order.column, order.isDescending).map((run) => html`
          <${Row} key=${run.id} run=${run} changes=${changes(run)} isOpen=${run.id === open} isShown=${isShown(run)}
            onShow=${() => onShow(run)} onReport=${() => onReport(run)} onOpen=${() => onOpen(run.id === open ? null : run.id)} />`)}</tbody>
      </table>
    </div>
  `;
}

/** @param {{run: Run, changes: string[], isOpen: boolean, isShown: boolean, onShow: () => void, onReport: () => void,
 *          onOpen: () => void}} props */
function Row({ run, changes, isOpen, isShown, onShow, onReport, onOpen }) {
  const { number, title, ranOn, lab, state, step, seconds, loss, testAccuracy, isPinned, colour } = run;
  return html`
    <tr data-testid="run-row" data-shown=${isOpen ? "" : undefined}>
      <th scope="row">
        <label class="run-curve" title="Show its curve">
          <input type="checkbox" checked=${isShown} aria-label=${`Curve of run ${number}`} onChange=${onShow} />
          <span class="legend-line" style=${{ background: `var(--series-${colour})` }}></span>${number}
        </label>
      </th>
      <td class="run-changes">
        <button type="button" class="link" data-testid="run-open" aria-expanded=${isOpen} onClick=${onOpen}>${title}</button>
        ${changes.map((text) => html`<span class="run-change" key=${text}>${text}</span>`)}
        <span class="hint">${[ranOn, lab ? `Lab: ${lab.strategy}` : "", state === "done" ? "" : state].filter(Boolean).join(", ")}</span>
      </td>
      <td>${format.count(step)}</td>
      <td>${format.duration(seconds)}</td>
      <td>${format.loss(loss)}</td>
      <td>${format.percent(testAccuracy)}</td>
      <td><div class="run-actions">
        <button type="button" class="button quiet icon-only" data-testid="run-report" title="Save a report as HTML" aria-label=${`Save a report of run ${number}`}
          onClick=${onReport}><${Icon} name="save" /></button>
        <button type="button" class="button quiet icon-only" data-testid="run-pin" aria-pressed=${isPinned} title=${isPinned ? "Unpin" : "Pin: keep this run"}
          aria-label=${`Pin run ${number}`} onClick=${() => pin(run)}><${Icon} name="pin" /></button>
        <button type="button" class="button quiet icon-only" data-testid="run-remove" title="Remove" aria-label=${`Remove run ${number}`}
          onClick=${() => remove(run)}><${Icon} name="close" /></button>
      </div></td>
    </tr>
  `;
}

/** @param {Run} run */
function pin({ id }) {
  store.runs.value = store.runs.value.map((run) => (run.id === id ? { ...run, isPinned: !run.isPinned } : run));
}

/** @param {Run} run */
function remove({ id }) {
  store.runs.value = store.runs.value.filter((run) => run.id !== id);
}
