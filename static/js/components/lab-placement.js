import { placement } from "../actions.js";
import { html, useState } from "../../vendor/preact.js";

/** @typedef {import("../../engine/messages.js").Placement} Placement */

/**
 * The device of each operation of the last training step, with the reason; loaded when opened.
 * @param {{isAsynchronous: boolean}} props `isAsynchronous`: each replica trains at its own pace
 */
export function LabPlacement({ isAsynchronous }) {
  const [table, setTable] = useState(/** @type {Placement | null} */ (null));
  const [problem, setProblem] = useState("");

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
      <summary>Where each operation runs, and why</summary>
      ${problem && html`<p class="hint" role="alert">${problem}</p>`}
      ${!problem && !table && html`<p class="hint" role="status">Measuring the operations that have not been measured yet. This takes a second or two.</p>`}
      ${table && html`<p class="hint" data-testid="lab-placement-headline">${table.headline}</p>
        ${isAsynchronous && html`<p class="hint" data-testid="lab-placement-replicas">Each replica computes gradients with a copy
          of these operations on its own device. The table shows the step of the device that holds the weights.</p>`}
        <${Rows} rows=${table.rows} />`}
    </details>
  `;
}

/** @param {{rows: Placement["rows"]}} props */
function Rows({ rows }) {
  return html`
    <div class="tables lab-table" tabindex="0" role="region" aria-label="Devices of the operations">
      <table data-testid="lab-placement-rows">
        <caption>Operations of the last training step, by scope</caption>
        <thead><tr>
          <th scope="col">Scope</th><th scope="col">Device</th>
          <th scope="col">Operations</th><th scope="col">Reason</th>
        </tr></thead>
        <tbody>
          ${rows.map(({ scope, nodes, device, reason }, place) => html`
            <tr key=${place}>
              <th scope="row">${scope || "no scope"}</th>
              <td data-device=${device}>${device}</td>
              <td title=${nodes.join("\n")}>${shortened(nodes)}</td><td>${reason}</td>
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}

/** @param {string[]} nodes */
function shortened(nodes) {
  const names = nodes.slice(0, 3).map((name) => name.slice(name.lastIndexOf("/") + 1));
  return names.join(", ") + (nodes.length > 3 ? ` and ${nodes.length - 3} more` : "");
}
