import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { named, words } from "./speed-words.js";

/** @import { SpeedRow, SpeedState, SpeedTimes } from "../../../engine/messages.js" */

/** The numbers of a row, in the order of the columns. */
const COLUMNS = /** @type {const} */ (["once", "each", "gflops"]);

/** A number with three digits, without an exponent. @param {number | null} value */
export function digits(value) {
  if (value === null) return format.NONE;
  return value >= 100 ? format.count(Math.round(value)) : format.tick(value);
}

/**
 * What was measured on each device, and the same of a known card: beside it where there is room, below it else.
 * @param {{state: SpeedState}} props
 */
export function SpeedTable({ state }) {
  const said = words();
  const { rows, row, card } = state;
  const devices = [...new Set(rows.map(({ device }) => device))];
  return html`
    <div class="tables lab-table speed-table" tabindex="0" role="region" aria-label=${said.label}>
      <table data-testid="speed-rows">
        <caption>${said.caption}</caption>
        <thead>
          <tr>
            <td></td>
            <th scope="colgroup" colspan="3">${said.here}<small class="speed-beside">${card.name}</small></th>
            <th scope="colgroup" colspan="3" class="speed-known">${card.name}</th>
          </tr>
          <tr>
            <th scope="col">${said.work}</th>
            ${COLUMNS.map((column) => html`<th scope="col" key=${column}>${said[column]}</th>`)}
            ${COLUMNS.map((column) => html`<th scope="col" key=${column} class="speed-known">${said[column]}</th>`)}
          </tr>
        </thead>
        ${devices.map(
          (device) => html`
          <tbody key=${device}>
            <tr><th scope="rowgroup" colspan="7" class="speed-device">${device.toUpperCase()}</th></tr>
            ${rows.map((each, place) => each.device === device && html`<${Row} key=${each.work} row=${each} isCurrent=${place === row} card=${card.name} />`)}
          </tbody>`,
        )}
      </table>
    </div>
  `;
}

/** @param {{row: SpeedRow, isCurrent: boolean, card: string}} props */
function Row({ row, isCurrent, card }) {
  const { times, known, error, state, title, work } = row;
  return html`
    <tr data-testid="speed-row" data-work=${work} data-device=${row.device} data-state=${state} data-current=${isCurrent ? "" : undefined}>
      <th scope="row">${named(title)}</th>
      ${
        error
          ? html`<td colspan="3" class="speed-error">${error.type}: ${error.message}</td>`
          : COLUMNS.map(
              (column) => html`<td key=${column}>${cell(row, column, isCurrent)}
          <small class="speed-beside"><span class="visually-hidden">${card}: </span>${digits(known[column])}</small></td>`,
            )
      }
      ${COLUMNS.map((column) => html`<td key=${column} class="speed-known">${digits(known[column])}</td>`)}
    </tr>
  `;

  /** @param {SpeedRow} measured @param {keyof SpeedTimes} column @param {boolean} isNext */
  function cell({ state: at }, column, isNext) {
    if (isNext && column === "once" && times.once === null) return words().states[at];
    return digits(times[column]);
  }
}
