import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { nodeOf, slowest } from "./execution.js";

/** @import { Execution, ExecutionEvent } from "../../../engine/messages.js" */

const MOST_ROWS = 200;

/**
 * The operations of the measured step, the slowest first. A click shows one in the graph.
 * @param {{execution: Execution, chosen: ExecutionEvent | null, onUse: (event: ExecutionEvent) => void}} props
 */
export function ExecutionTable({ execution, chosen, onUse }) {
  const {
    execution: words,
    lab: { kinds },
  } = t();
  const { rows, others } = slowest(execution.events, MOST_ROWS);
  return html`
    <details class="execution-details">
      <summary data-testid="timeline-table-open">${words.table}</summary>
      <div class="tables lab-table" tabindex="0" role="region" aria-label=${words.table}>
        <table data-testid="timeline-table">
          <thead><tr>
            <th scope="col">${words.operation}</th><th scope="col">${words.device}</th><th scope="col">${words.kind}</th>
            <th scope="col">${words.time}</th><th scope="col">${words.share}</th>
          </tr></thead>
          <tbody>
            ${rows.map(
              ({ event, took, share }) => html`
              <tr key=${`${event.device} ${event.name} ${event.start}`} data-shown=${event === chosen ? "" : undefined}>
                <th scope="row">${
                  nodeOf(event, store.graph.value) === null
                    ? event.name
                    : html`<button type="button" class="link" onClick=${() => onUse(event)}>${event.name}</button>`
                }</th>
                <td>${event.device}</td>
                <td>${kindOf(event, kinds)}</td>
                <td>${format.milliseconds(took)}</td><td>${format.percent(share, 1)}</td>
              </tr>
            `,
            )}
            ${
              others &&
              html`<tr><th scope="row">${words.others(others.count)}</th><td></td><td></td>
              <td>${format.milliseconds(others.took)}</td><td>${format.percent(others.share, 1)}</td></tr>`
            }
          </tbody>
        </table>
      </div>
    </details>
  `;
}

/** @param {ExecutionEvent} event @param {Record<string, string>} kinds */
function kindOf({ kind, kernel }, kinds) {
  const what = kinds[kind] ?? kind;
  return kernel ? t().execution.kernel(what, kernel) : what;
}
