import { html, useMemo } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { leadingClass } from "./graph-heat.js";
import { census } from "./graph-model.js";

/**
 * @typedef {import("./graph-model.js").Item} Item
 * @typedef {import("./graph-model.js").Cluster} Cluster
 * @typedef {import("./graph-layout.js").Box} Box
 * @typedef {import("../../../engine/messages.js").GraphNode} GraphNode
 * @typedef {(node: GraphNode) => string} ColourOf gives the name of a colour class
 */

/** @param {Box} box */
const corner = ({ x, y, width, height }) => `translate(${x - width / 2} ${y - height / 2})`;

/**
 * An operation, or a collapsed scope.
 * @param {{item: Item, box: Box, colourOf: ColourOf, isSelected: boolean, isMarked: boolean, isCurrent: boolean,
 *          light?: import("./step-operations.js").Light, isPython: boolean,
 *          onUse: (id: string) => void, onFocus: (id: string) => void}} props
 *   `isMarked`: the search has found it; `light`: its place in the step that is gone through;
 *   `isPython`: Python computes it, or a part of it, between compiled operations; `isCurrent`: Tab moves to it
 */
export function GraphItem(props) {
  const { item, box, colourOf, isSelected, isMarked, light } = props;
  const { isPython, isCurrent, onUse, onFocus } = props;
  // Of thousands of items few change at a time.
  return useMemo(
    () => drawn(props),
    [item, box, colourOf, isSelected, isMarked, light, isPython, isCurrent, onUse, onFocus],
  );
}

/** @param {Parameters<typeof GraphItem>[0]} props */
function drawn({
  item,
  box,
  colourOf,
  isSelected,
  isMarked,
  light,
  isPython,
  isCurrent,
  onUse,
  onFocus,
}) {
  const { width, height } = box;
  const isScope = item.kind === "scope";
  const parts = census(item.kind === "scope" ? item.nodes : [item.node], colourOf);
  // It begins with the visible text, so that voice control finds it.
  const read = `${item.label} ${item.detail}${isPython ? `, ${t().graph.inPython}` : ""}`;
  const what = isScope ? t().graph.scope(read) : read;
  return html`
    <g class=${`graph-item ${item.kind}`} transform=${corner(box)} data-id=${item.id}
      data-colour=${leadingClass(parts)} data-selected=${isSelected ? "" : undefined} data-marked=${isMarked ? "" : undefined}
      data-light=${light}
      role="button" aria-label=${what} aria-pressed=${isScope ? undefined : isSelected}
      aria-expanded=${isScope ? false : undefined} tabindex=${isCurrent ? 0 : -1}
      onClick=${() => onUse(item.id)} onFocus=${() => onFocus(item.id)}>
      ${isScope && html`<rect class="graph-stack" x="4" y="4" width=${width} height=${height} rx="9" />`}
      <rect class="graph-box" width=${width} height=${height} rx=${isScope ? 9 : 7} />
      <text class="graph-label" x="12" y="17">${item.label}</text>${" "}
      <text class="graph-detail" x="12" y="31">${item.detail}</text>
      ${isPython && html`<${PythonSign} x=${width - SIGN.width - 6} />`}
      ${isScope && html`<${Strip} parts=${parts} width=${width - 24} y=${height - 7} />`}
    </g>
  `;
}

/** The size of the sign on the upper edge of a box. */
const SIGN = { width: 20, height: 12 };
/** On operations that Python computes, in all languages. */
export const PYTHON = "Py";

/** Python computes it. @param {{x: number}} props */
function PythonSign({ x }) {
  return html`<g class="graph-python" transform=${`translate(${x} ${3 - SIGN.height})`} aria-hidden="true">
    <rect ...${SIGN} rx="6" /><text x=${SIGN.width / 2} y="9">${PYTHON}</text>
  </g>`;
}

/**
 * The composition of a collapsed scope, as a strip of proportional parts.
 * @param {{parts: [string, number][], width: number, y: number}} props
 */
function Strip({ parts, width, y }) {
  const whole = parts.reduce((sum, [, count]) => sum + count, 0);
  let x = 12;
  return html`<g aria-hidden="true">
    ${parts.map(([colour, count]) => {
      const start = x;
      x += (width * count) / whole;
      return html`<rect key=${colour} class="graph-strip" data-colour=${colour} x=${start} y=${y}
        width=${x - start} height="3" />`;
    })}
  </g>`;
}

/** The title of a frame, by its top left corner: on the upper left edge. @param {string} label */
const titleSize = (label) => ({ x: 6, y: -9, width: 32 + label.length * 7.5, height: 18 });

/**
 * Return where the title of a frame is, of which only a part may be in sight.
 * @param {Cluster} cluster @param {Box} frame @returns {Box}
 */
export function titleBox({ label }, frame) {
  const { x, y, width, height } = titleSize(label);
  const [left, top] = [frame.x - frame.width / 2, frame.y - frame.height / 2];
  return { x: left + x + width / 2, y: top + y + height / 2, width, height };
}

/**
 * The frame around an expanded scope; its title collapses it.
 * @param {{cluster: Cluster, box: Box, isCurrent: boolean, onFold: (path: string) => void,
 *          onFocus: (id: string) => void}} props
 */
export function GraphCluster({ cluster, box, isCurrent, onFold, onFocus }) {
  return html`
    <g class="graph-cluster" transform=${corner(box)}>
      <rect width=${box.width} height=${box.height} rx="12" />
      <g role="button" class="graph-cluster-title" data-id=${cluster.id} tabindex=${isCurrent ? 0 : -1}
        aria-expanded="true" aria-label=${t().graph.scope(cluster.label)}
        onClick=${() => onFold(cluster.path)} onFocus=${() => onFocus(cluster.id)}>
        <rect class="graph-cluster-tab" ...${titleSize(cluster.label)} rx="9" />
        <text x="14" y="4"><tspan aria-hidden="true">− </tspan>${cluster.label}</text>
      </g>
    </g>
  `;
}
