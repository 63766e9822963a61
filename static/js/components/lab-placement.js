import { placement } from "../actions.js";
import { html, useState } from "../../vendor/preact.js";

/** @typedef {import("../types.js").Placement} Placement */

/**
 * Where each operation of the last step runs, and why; asked for when it is opened.
 * @param {{isAsynchronous: boolean}} props `isAsynchronous`: replicas make steps by themselves
 */
export function LabPlacement({ isAsynchronous }) {
  const [found, setFound] = useState(/** @type {Placement | null} */ (null));
  const [problem, setProblem] = useState("");

  /** @param {Event} event */
  async function toggled(event) {
    if (!(event.currentTarget instanceof HTMLDetailsElement && event.currentTarget.open)) return;
    setFound(null);
    setProblem("");
    try {
      setFound(await placement());
    } catch (failure) {
      setProblem(String(failure instanceof Error ? failure.message : failure));
    }
  }

  return html`
    <details class="panel lab-placement" data-testid="lab-placement" onToggle=${toggled}>
      <summary>Where each operation runs, and why</summary>
      ${problem && html`<p class="hint" role="alert">${problem}</p>`}
      ${!problem && !found && html`<p class="hint" role="status">Operations that were never measured are measured now: a second or two.</p>`}
      ${found && html`<p class="hint" data-testid="lab-placement-headline">${found.headline}</p>
        ${isAsynchronous && html`<p class="hint" data-testid="lab-placement-replicas">Each replica has a copy of what computes
          the gradients, on a device of its own. This is the step as the device with the weights has it.</p>`}
        <${Rows} rows=${found.rows} />`}
    </details>
  `;
}

/** @param {{rows: Placement["rows"]}} props */
function Rows({ rows }) {
  return html`
    <div class="tables lab-table" tabindex="0" role="region" aria-label="Devices of the operations">
      <table data-testid="lab-placement-rows">
        <caption>The operations of the step that was trained last, by scope</caption>
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
