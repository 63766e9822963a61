import { html, useState } from "../../../vendor/preact.js";
import { Icon } from "../../components/icons.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { MOST_PINNED, isRated, sortedBy, stateInWords, titleOf } from "./runs.js";
import * as store from "../../state/store.js";

/** @import { Column, Run } from "./runs.js" */

const NUMBERS = /** @type {const} */ (["loss", "testAccuracy", "step", "seconds"]);
/** With players that learn from their own games. */
const RATED = /** @type {const} */ ([...NUMBERS, "elo"]);

/**
 * The runs as a table that can be sorted. Where there is little room, the style sheet makes each row a card; the roles
 * are written out, because browsers drop the roles of a table that is not laid out as one.
 * @param {{runs: Run[], open: number | null, isShown: (run: Run) => boolean, onShow: (run: Run) => void,
 *          onOpen: (id: number | null) => void, onReport: (run: Run) => void, changes: (run: Run) => string[]}} props
 *   `isShown`: whether its curve is drawn; `open`: the run whose code is shown; `changes`: since the run before
 */
export function RunsTable({ runs, open, isShown, onShow, onOpen, onReport, changes }) {
  const [order, setOrder] = useState({
    column: /** @type {Column} */ ("number"),
    isDescending: true,
  });
  const sortBy = (/** @type {Column} */ column) =>
    setOrder({ column, isDescending: order.column === column ? !order.isDescending : false });
  const words = t().runs;
  const hasElo = isRated(runs);
  const mayPin = runs.filter(({ isPinned }) => isPinned).length < MOST_PINNED;
  /** @param {keyof typeof words.columns} column */
  const header = (column) => html`
    <th scope="col" role="columnheader" aria-sort=${order.column === column ? (order.isDescending ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort" data-testid=${`runs-sort-${column}`} onClick=${() => sortBy(column)}>${words.columns[column]}
        ${order.column === column && html`<${Icon} name=${order.isDescending ? "down" : "up"} />`}</button>
    </th>
  `;
  return html`
    <div class="tables runs-table" tabindex="0" role="region" aria-label=${words.table}>
      <table data-testid="runs-table" role="table">
        <thead role="rowgroup"><tr role="row" data-label=${words.sortBy}>
          ${header("number")}<th scope="col" role="columnheader" class="unsorted">${words.changes}</th>
          ${(hasElo ? RATED : NUMBERS).map(header)}
          <th scope="col" role="columnheader" class="unsorted"><span class="visually-hidden">${words.actions}</span></th>
        </tr></thead>
        <tbody role="rowgroup">${sortedBy(runs, order.column, order.isDescending).map(
          (run) => html`
          <${Row} key=${run.id} run=${run} changes=${changes(run)} isOpen=${run.id === open} isShown=${isShown(run)} mayPin=${mayPin} hasElo=${hasElo}
            onShow=${() => onShow(run)} onReport=${() => onReport(run)} onOpen=${() => onOpen(run.id === open ? null : run.id)} />`,
        )}</tbody>
      </table>
    </div>
  `;
}

/** @param {{run: Run, changes: string[], isOpen: boolean, isShown: boolean, mayPin: boolean, hasElo: boolean, onShow: () => void,
 *          onReport: () => void, onOpen: () => void}} props */
function Row({ run, changes, isOpen, isShown, mayPin, hasElo, onShow, onReport, onOpen }) {
  const words = t().runs;
  const cell = (/** @type {typeof RATED[number]} */ column, /** @type {string} */ text) =>
    html`<td role="cell" class="run-number" data-label=${words.columns[column]}>${text}</td>`;
  const {
    number,
    ranOn,
    lab,
    state,
    step,
    seconds,
    loss,
    testAccuracy,
    elo = null,
    isPinned,
    colour,
  } = run;
  return html`
    <tr role="row" data-testid="run-row" data-shown=${isOpen ? "" : undefined}>
      <th scope="row" role="rowheader">
        <label class="run-curve" title=${words.showCurve}>
          <input type="checkbox" checked=${isShown} aria-label=${words.curve(number)} onChange=${onShow} />
          <span class="legend-line" style=${{ background: `var(--series-${colour})` }}></span>${number}
        </label>
      </th>
      <td role="cell" class="run-changes">
        <button type="button" class="link" data-testid="run-open" aria-expanded=${isOpen} onClick=${onOpen}>${titleOf(run)}</button>
        ${changes.map((text) => html`<span class="run-change" key=${text}>${text}</span>`)}
        <span class="hint">${t().numbers.list([ranOn, lab ? words.lab(lab.strategy) : "", state === "done" ? "" : stateInWords(state)].filter(Boolean))}</span>
      </td>
      ${cell("loss", format.loss(loss))}
      ${cell("testAccuracy", format.percent(testAccuracy))}
      ${cell("step", format.count(step))}
      ${cell("seconds", format.duration(seconds))}
      ${hasElo && cell("elo", format.elo(elo))}
      <td role="cell" class="run-buttons"><div class="run-actions">
        <button type="button" class="button quiet icon-only" data-testid="run-report" title=${words.report} aria-label=${words.reportOf(number)}
          onClick=${onReport}><${Icon} name="save" /></button>
        <button type="button" class="button quiet icon-only" data-testid="run-pin" aria-pressed=${isPinned} title=${isPinned ? words.unpin : mayPin ? words.pin : words.mostPinned(MOST_PINNED)}
          disabled=${!isPinned && !mayPin}
          aria-label=${words.pinThis(number)} onClick=${() => pin(run)}><${Icon} name="pin" /></button>
        <button type="button" class="button quiet icon-only" data-testid="run-remove" title=${words.remove} aria-label=${words.removeThis(number)}
          onClick=${() => remove(run)}><${Icon} name="close" /></button>
      </div></td>
    </tr>
  `;
}

/** @param {Run} run */
function pin({ id }) {
  store.runs.value = store.runs.value.map((run) =>
    run.id === id ? { ...run, isPinned: !run.isPinned } : run,
  );
}

/** @param {Run} run */
function remove({ id }) {
  store.runs.value = store.runs.value.filter((run) => run.id !== id);
}
