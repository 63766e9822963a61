import { html } from "../../../vendor/preact.js";
import { Icon } from "../../components/icons.js";
import { computedNodes } from "../../engine/computed-nodes.js";
import { lazy } from "../../components/lazy.js";
import { shape } from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";

const NodeTabs = lazy(
  () => import("./node-tabs.js").then((module) => module.NodeTabs),
  () => ({ name: t().nodeTabs.name, waiting: t().nodeTabs.loading }),
);

/**
 * The details of one node.
 * @param {{node: import("../../../engine/messages.js").GraphNode, map: any, onLeave: () => void}} props
 *   `map`: of the drawing, which has less room beside the details; `onLeave`: the user moves to the code, which a full-page graph hides
 */
export function NodeDetails({ node, map, onLeave }) {
  const { node: words, phases, notPlaced } = t().graph;
  const lineKnown = node.line !== null && store.linesApply.value;

  function toCode() {
    onLeave();
    store.revealLine(node.line);
  }

  return html`
    <aside class="node-details" aria-label=${words.label} data-testid="node-details">
      <div class="node-details-head">
        <h3>${node.name}</h3>
        <button type="button" class="button quiet icon-only" aria-label=${words.close}
          onClick=${() => (store.selectedNode.value = null)}><${Icon} name="close" /></button>
      </div>
      <div class="node-overview"><dl class="node-facts">
        <div><dt>${words.operation}</dt><dd><code>${node.op}</code></dd></div>
        <div><dt>${words.phase}</dt><dd>${phases[node.phase]}</dd></div>
        <div><dt>${words.shape}</dt><dd>${shape(node.shape)}</dd></div>
        <div><dt>${words.type}</dt><dd>${node.dtype ?? words.noType}</dd></div>
        <div><dt>${words.device}</dt><dd>${node.device ?? notPlaced}</dd></div>
        <${Computation} node=${node} />
        ${
          node.line !== null &&
          html`<div><dt>${words.createdAt}</dt><dd>${
            lineKnown
              ? html`<button type="button" class="link" onClick=${toCode}>${words.line(node.line)}</button>`
              : words.line(node.line)
          }</dd></div>`
        }
      </dl>${map}</div>
      <${NodeTabs} node=${node} onLine=${toCode} />
    </aside>
  `;
}

/** Operations that compute nothing. */
const STORED = ["constant", "placeholder", "variable"];

/**
 * Whether the node is a part of the compiled step, where there is one.
 * @param {{node: import("../../../engine/messages.js").GraphNode}} props
 */
function Computation({ node: { name, op } }) {
  const words = t().graph.node;
  const computed = computedNodes.value;
  const reason = computed?.python.get(name);
  const word = reason
    ? words.inPython[reason]
    : computed?.compiled.has(name)
      ? words.compiled
      : computed?.problem && words.notCompiled[computed.problem];
  if (!word || STORED.includes(op)) return null;
  return html`<div><dt>${words.computed}</dt><dd data-testid="node-computed" data-reason=${reason ?? ""}>${word}</dd></div>`;
}
