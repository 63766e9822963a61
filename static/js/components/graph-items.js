import { html } from "../../vendor/preact.js";
import { phasesOf } from "../graph-model.js";

/**
 * @typedef {import("../graph-model.js").Item} Item
 * @typedef {import("../graph-model.js").Cluster} Cluster
 * @typedef {import("../graph-layout.js").Box} Box
 * @typedef {import("../types.js").GraphNode} GraphNode
 * @typedef {(node: GraphNode) => string} ColourOf gives the name of a colour class
 */

/** @param {Box} box */
const corner = ({ x, y, width, height }) => `translate(${x - width / 2} ${y - height / 2})`;

/**
 * An operation, or a folded scope.
 * @param {{item: Item, box: Box, colourOf: ColourOf, isSelected: boolean, isCurrent: boolean,
 *          onUse: (item: Item) => void, onFocus: (id: string) => void}} props
 *   `isCurrent`: it is the one that Tab goes to
 */
export function GraphItem({ item, box, colourOf, isSelected, isCurrent, onUse, onFocus }) {
  const { width, height } = box;
  const isScope = item.kind === "scope";
  const nodes = item.kind === "scope" ? item.nodes : [item.node];
  const what = isScope ? `Scope ${item.label}, ${item.detail}, folded` : `${item.label}, ${item.detail}`;
  return html`
    <g class=${`graph-item ${item.kind}`} transform=${corner(box)} data-id=${item.id}
      data-colour=${colourOf(nodes[0])} data-selected=${isSelected ? "" : undefined}
      role="button" aria-label=${what} aria-pressed=${isScope ? undefined : isSelected}
      aria-expanded=${isScope ? false : undefined} tabindex=${isCurrent ? 0 : -1}
      onClick=${() => onUse(item)} onFocus=${() => onFocus(item.id)}>
      ${isScope && html`<rect class="graph-stack" x="4" y="4" width=${width} height=${height} rx="9" />`}
      <rect class="graph-box" width=${width} height=${height} rx=${isScope ? 9 : 7} />
      <text class="graph-label" x="12" y="17">${item.label}</text>
      <text class="graph-detail" x="12" y="31">${item.detail}</text>
      ${isScope && html`<${PhaseStrip} nodes=${nodes} width=${width} y=${height - 7} colourOf=${colourOf} />`}
    </g>
  `;
}

/**
 * What a folded scope is made of, as a strip of proportional parts.
 * @param {{nodes: GraphNode[], width: number, y: number, colourOf: ColourOf}} props
 */
function PhaseStrip({ nodes, width, y, colourOf }) {
  const room = width - 24;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const node of nodes) counts.set(colourOf(node), (counts.get(colourOf(node)) ?? 0) + 1);
  let x = 12;
  return html`<g aria-hidden="true">
    ${[...counts].sort((a, b) => b[1] - a[1]).map(([colour, count]) => {
      const start = x;
      const part = (room * count) / nodes.length;
      x += part;
      return html`<rect key=${colour} class="graph-strip" data-colour=${colour} x=${start} y=${y}
        width=${part} height="3" />`;
    })}
  </g>`;
}

/**
 * The frame around an open scope; its title folds it.
 * @param {{cluster: Cluster, box: Box, isCurrent: boolean, onFold: (path: string) => void,
 *          onFocus: (id: string) => void}} props
 */
export function GraphCluster({ cluster, box, isCurrent, onFold, onFocus }) {
  return html`
    <g class="graph-cluster" transform=${corner(box)}>
      <rect width=${box.width} height=${box.height} rx="12" />
      <g role="button" class="graph-cluster-title" data-id=${cluster.id} tabindex=${isCurrent ? 0 : -1}
        aria-expanded="true" aria-label=${`Scope ${cluster.label}, open`}
        onClick=${() => onFold(cluster.path)} onFocus=${() => onFocus(cluster.id)}>
        <rect class="graph-cluster-tab" x="6" y="-9" width=${26 + cluster.label.length * 7} height="18" rx="9" />
        <text x="14" y="4">− ${cluster.label}</text>
      </g>
    </g>
  `;
}

/** In words. @param {GraphNode[]} nodes */
export const describePhases = (nodes) =>
  phasesOf(nodes).map(([phase, count]) => `${count} ${phase}`).join(", ");
