import { html } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { OperationLink } from "./operation-link.js";

/** @import { Operation, StepOperations } from "../../../engine/messages.js" */

/**
 * The passes of the compiler with the nodes before and after, and the fused operations.
 * @param {{step: StepOperations}} props
 */
export function CompilerPasses({ step }) {
  const words = t().operations;
  const groups = step.operations.filter(({ members }) => members.length > 0);
  return html`
    <details class="execution-details" data-testid="compiler-passes">
      <summary>${words.passes(groups.length)}</summary>
      <div class="tables lab-table" tabindex="0" role="region" aria-label=${words.passTable}>
        <table>
          <thead><tr><th scope="col">${words.pass}</th><th scope="col">${words.does}</th><th scope="col">${words.before}</th>
            <th scope="col">${words.after}</th></tr></thead>
          <tbody>
            ${step.passes.map(
              ({ name, before, after }) => html`
              <tr key=${name} data-pass=${name}><th scope="row"><code>${name}</code></th>
                <td>${/** @type {Record<string, string>} */ (words.passNames)[name] ?? ""}</td><td>${before}</td><td>${after}</td></tr>`,
            )}
          </tbody>
        </table>
        ${
          groups.length > 0 &&
          html`
          <table data-testid="fused-groups">
            <thead><tr><th scope="col">${words.fused}</th><th scope="col">${words.kernel}</th><th scope="col">${words.contains}</th></tr></thead>
            <tbody>${groups.map((group) => html`<${Group} key=${`${group.device} ${group.name}`} group=${group} />`)}</tbody>
          </table>`
        }
      </div>
    </details>
  `;
}

/** @param {{group: Operation}} props */
function Group({ group: { name, op, kernel, members } }) {
  return html`
    <tr>
      <th scope="row"><${OperationLink} name=${name} /></th>
      <td>${kernel && kernel !== op ? `${op}, ${kernel}` : op}</td>
      <td>${members.map((member, n) => html`${n > 0 && ", "}<${OperationLink} key=${member} name=${member} />`)}</td>
    </tr>
  `;
}
