import { html, useState } from "../../../vendor/preact.js";
import { placement } from "../../engine/questions.js";
import { t } from "../../words/locale.js";

/** @typedef {import("../../../engine/messages.js").Placement} Placement */

/**
 * The device of each operation of the last training step, with the reason; loaded when opened.
 * @param {{isAsynchronous: boolean}} props `isAsynchronous`: each replica trains at its own pace
 */
export function LabPlacement({ isAsynchronous }) {
  const [table, setTable] = useState(/** @type {Placement | null} */ (null));
  const [problem, setProblem] = useState("");
  const words = t().lab.placement;

  /** @param {Event} event */
  async function toggled(event) {
    if (!(event.currentTarget instanceof HTMLDetailsElement && event.currentTarget.open)) return;
    setTable(null);
    setProblem("");
    try {
      setTable(await placement());
    } catch (failure) {
      setProblem(String(failure instanceof Error ? failure.message : failure));
    }
  }

  return html`
    <details class="panel lab-placement" data-testid="lab-placement" onToggle=${toggled}>
      <summary>${words.title}</summary>
      ${problem && html`<p class="hint" role="alert">${problem}</p>`}
      ${!problem && !table && html`<p class="hint" role="status">${words.measuring}</p>`}
      ${
        table &&
        html`<p class="hint" data-testid="lab-placement-headline">${table.headline}</p>
        ${isAsynchronous && html`<p class="hint" data-testid="lab-placement-replicas">${words.replicas}</p>`}
        <${Rows} rows=${table.rows} />`
      }
    </details>
  `;
}

/** @param {{rows: Placement["rows"]}} props */
function Rows({ rows }) {
  const words = t().lab.placement;
  return html`
    <div class="tables lab-table" tabindex="0" role="region" aria-label=${words.label}>
      <table data-testid="lab-placement-rows">
        <caption>${words.caption}</caption>
        <thead><tr>
          <th scope="col">${words.scope}</th><th scope="col">${words.device}</th>
          <th scope="col">${words.operations}</th><th scope="col">${words.reason}</th>
        </tr></thead>
        <tbody>
          ${rows.map(
            ({ scope, nodes, device, reason }, place) => html`
            <tr key=${place}>
              <th scope="row">${scope || words.noScope}</th>
              <td data-device=${device}>${device}</td>
              <td title=${nodes.join("\n")}>${shortened(nodes)}</td><td>${reason}</td>
            </tr>
          `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

/** @param {string[]} nodes */
function shortened(nodes) {
  const names = nodes.slice(0, 3).map((name) => name.slice(name.lastIndexOf("/") + 1));
  return t().lab.placement.names(names, nodes.length - names.length);
}
