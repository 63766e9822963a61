import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { WORK_KINDS } from "./lab.js";
import { t } from "../../words/locale.js";

/**
 * The numbers of the traced step.
 * @param {{trace: import("../../../engine/messages.js").Trace, updates?: Record<string, number>}} props
 *   `updates`: how many each device has applied in the whole run, if it is asynchronous
 */
export function DeviceTimes({ trace, updates }) {
  const { devices } = trace.timeline;
  const { times: words, kinds: names } = t().lab;
  const columns = WORK_KINDS.filter((kind) => devices.some(({ kinds }) => kinds[kind]));
  return html`
    <div class="tables lab-table" tabindex="0" role="region" aria-label=${words.label}>
      <table data-testid="lab-times">
        <caption>${words.caption}</caption>
        <thead><tr>
          <th scope="col">${words.device}</th>
          ${columns.map((kind) => html`<th scope="col" key=${kind}>${names[kind]}</th>`)}
          <th scope="col">${words.waiting}</th><th scope="col">${words.sent}</th><th scope="col">${words.received}</th>
          <th scope="col">${words.memory}</th>
          ${updates && html`<th scope="col">${words.updates}</th>`}
        </tr></thead>
        <tbody>
          ${devices.map(
            ({ device, kinds, idle, sent, received }) => html`
            <tr key=${device}>
              <th scope="row">${device}</th>
              ${columns.map((kind) => html`<td key=${kind}>${kinds[kind] ? format.milliseconds(1000 * kinds[kind]) : format.NONE}</td>`)}
              <td>${format.milliseconds(1000 * idle)}</td>
              <td>${format.bytes(sent)}</td><td>${format.bytes(received)}</td>
              <td>${format.bytes(trace.memory[device])}</td>
              ${updates && html`<td>${updates[device] ?? format.NONE}</td>`}
            </tr>
          `,
          )}
        </tbody>
      </table>
    </div>
  `;
}
