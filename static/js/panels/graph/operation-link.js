import { html } from "../../../vendor/preact.js";
import * as store from "../../state/store.js";

/** The name of an operation, which selects its node if it is drawn. @param {{name: string}} props */
export function OperationLink({ name }) {
  const isDrawn = store.graph.value?.nodes.some((node) => node.name === name);
  if (!isDrawn) return html`<code>${name}</code>`;
  return html`<button type="button" class="link" onClick=${() => (store.selectedNode.value = name)}><code>${name}</code></button>`;
}
