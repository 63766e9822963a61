import { html } from "../../vendor/preact.js";
import { shape } from "../format.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";

/**
 * The details of one node.
 * @param {{node: import("../../engine/messages.js").GraphNode, onLeave: () => void}} props
 *   `onLeave`: the user moves to the code, which a full-page graph hides
 */
export function NodeDetails({ node, onLeave }) {
  const lineKnown = node.line !== null && store.linesApply.value;

  function toCode() {
    onLeave();
    store.revealLine(node.line);
  }

  return html`
    <aside class="node-details" aria-label="Selected operation" data-testid="node-details">
      <div class="node-details-head">
        <h3>${node.name}</h3>
        <button type="button" class="button quiet icon-only" aria-label="Close"
          onClick=${() => (store.selectedNode.value = null)}><${Icon} name="close" /></button>
      </div>
      <dl>
        <div><dt>Operation</dt><dd><code>${node.op}</code></dd></div>
        <div><dt>Phase</dt><dd>${node.phase}</dd></div>
        <div><dt>Shape</dt><dd>${shape(node.shape)}</dd></div>
        <div><dt>Type</dt><dd>${node.dtype ?? "none"}</dd></div>
        <div><dt>Device</dt><dd>${node.device ?? "not placed"}</dd></div>
        ${node.line !== null && html`<div><dt>Created at</dt><dd>${lineKnown
          ? html`<button type="button" class="link" onClick=${toCode}>line ${node.line}</button>`
          : `line ${node.line}`}</dd></div>`}
        ${Object.entries(node.attrs ?? {}).map(([name, value]) => html`
          <div key=${name}><dt>${name}</dt><dd>${value}</dd></div>
        `)}
      </dl>
    </aside>
  `;
}
