import { html } from "../../../vendor/preact.js";
import { Icon } from "../../components/icons.js";
import { dismiss, findings, follow, isFollowed, keyOf, nodeNamed } from "../../training/doctor.js";
import { changeText } from "../../editor/editor-access.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { placed } from "./doctor-edit.js";
import { editInWords, sentenceOf } from "./doctor-words.js";

/** @import { Finding, SuggestedEdit } from "../../../engine/messages.js" */

/** What is wrong with the training, each with its place and the edit that cures it. */
export function DoctorPanel() {
  if (findings.value.length === 0) return null;
  return html`
    <section class="panel doctor" aria-labelledby="doctor-title" data-testid="doctor">
      <div class="panel-head"><h2 id="doctor-title">${t().doctor.title}</h2></div>
      <ul class="findings">
        ${findings.value.map((finding) => html`<${Item} key=${keyOf(finding)} finding=${finding} />`)}
      </ul>
    </section>
  `;
}

/** @param {{finding: Finding}} props */
function Item({ finding }) {
  const { line, node, edit } = finding;
  return html`
    <li class="finding" data-testid="doctor-finding" data-code=${finding.code}>
      <p>${sentenceOf(finding)}</p>
      <div class="finding-foot">
        ${
          line !== null &&
          html`<button type="button" class="link" data-testid="doctor-line"
          disabled=${!store.linesApply.value} onClick=${() => store.revealLine(line)}>${t().doctor.line(line)}</button>`
        }
        ${node !== null && html`<${NodeName} name=${node} />`}
        ${edit && html`<${Suggestion} finding=${finding} edit=${edit} />`}
      </div>
      <button type="button" class="button quiet icon-only finding-close" aria-label=${t().doctor.dismiss}
        data-testid="doctor-dismiss" onClick=${() => dismiss(finding)}><${Icon} name="close" /></button>
    </li>
  `;
}

/** A layer or operation; a link if the graph has it. @param {{name: string}} props */
function NodeName({ name }) {
  const node = nodeNamed(name);
  if (!node) return html`<code>${name}</code>`;
  function show() {
    store.view.value = "graph";
    store.selectedNode.value = node?.name ?? null;
  }
  return html`<button type="button" class="link" data-testid="doctor-node" title=${t().doctor.showNode}
    onClick=${show}><code>${name}</code></button>`;
}

/** The button that writes the edit into the code, or why that is not possible. @param {{finding: Finding, edit: SuggestedEdit}} props */
function Suggestion({ finding, edit }) {
  const spot = place({ ...finding, edit });
  if ("problem" in spot) {
    return html`<span class="hint" role="status" data-testid="doctor-note">${t().doctor[spot.problem]}</span>`;
  }
  function apply() {
    if (!("changes" in spot)) return;
    follow(finding);
    if (changeText(spot.changes) && finding.line !== null) store.revealLine(finding.line);
  }
  const words = editInWords(edit);
  return html`<button type="button" class="button small" data-testid="doctor-apply" aria-label=${t().doctor.apply(words)}
    title=${t().doctor.apply(words)} onClick=${apply}>${words}</button>`;
}

/**
 * Where the edit of a finding belongs in the current code, or why it does not.
 * @param {Finding & {edit: SuggestedEdit}} finding
 * @returns {{changes: import("./doctor-edit.js").TextChange[]} | {problem: "applied" | "changed" | "elsewhere"}}
 */
function place(finding) {
  if (!store.linesApply.value) return { problem: "elsewhere" };
  const changes = placed(finding.edit.changes, store.executed.value.source, store.source.value);
  if (changes) return { changes };
  return { problem: isFollowed(finding) ? "applied" : "changed" };
}
