/** The boxes and arrows to draw for a graph, with some of its name scopes collapsed. */

import { t } from "../../words/locale.js";
import { partsOf } from "./graph-parts.js";

/** @import { Graph, GraphNode } from "../../../engine/messages.js" */

/**
 * @typedef {{id: string, kind: "node", node: GraphNode, label: string, detail: string,
 *            parent: string | null, width: number, height: number}} NodeItem
 * @typedef {{id: string, kind: "scope", path: string, label: string, detail: string,
 *            nodes: GraphNode[], parent: string | null, width: number, height: number}} ScopeItem
 * @typedef {NodeItem | ScopeItem} Item an operation, or a collapsed scope or a part of it
 * @typedef {{id: string, path: string, label: string, parent: string | null}} Cluster an expanded scope
 * @typedef {{from: string, to: string, control: boolean, count: number}} Arrow
 * @typedef {{items: Item[], clusters: Cluster[], arrows: Arrow[]}} Picture
 *   `items` in the order in which they begin to compute
 */

/** Approximate widths in pixels: the label is bold, the detail smaller. */
const LABEL_CHARACTER = 7.5;
const DETAIL_CHARACTER = 6.6;
/** How much wider a Chinese character is, as a part of another. */
const WIDE_CHARACTER = 0.7;
const HEIGHT = 40;
/** Scopes with fewer nodes are not drawn. */
const LEAST_SCOPE = 2;
/** The scope of a training step. */
const STEP_SCOPE = "train";
/** Scopes with a larger share of all nodes start expanded. */
const MAIN_SHARE = 0.7;

/** @param {string} path @param {number} [part] of a scope that is divided */
export const scopeId = (path, part = 0) => `scope:${path}${part > 0 ? `#${part + 1}` : ""}`;

/** Paths of all scopes to draw, outer ones first. @param {Graph} graph */
export function scopesOf(graph) {
  return [...sizesOf(graph)]
    .filter(([, size]) => size >= LEAST_SCOPE)
    .map(([path]) => path)
    .sort();
}

/**
 * Paths of scopes that contain nearly the whole graph, such as the scope of a strategy.
 * @param {Graph} graph
 */
export function mainScopes(graph) {
  const most = MAIN_SHARE * graph.nodes.length;
  return [...sizesOf(graph)].filter(([, size]) => size > most).map(([path]) => path);
}

/** Number of nodes in each scope, by path. @param {Graph} graph */
function sizesOf(graph) {
  /** @type {Map<string, number>} */
  const sizes = new Map();
  /** @type {Map<string, number>} */
  const own = new Map();
  for (const { scope } of graph.nodes) own.set(scope, (own.get(scope) ?? 0) + 1);
  for (const [scope, count] of own) {
    for (const path of enclosing(scope)) sizes.set(path, (sizes.get(path) ?? 0) + count);
  }
  return sizes;
}

/** "a/b/c" → ["a", "a/b", "a/b/c"] @param {string} scope */
function enclosing(scope) {
  const parts = scope ? scope.split("/") : [];
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/**
 * @param {Graph} graph
 * @param {ReadonlySet<string>} open paths of the expanded scopes
 * @returns {Picture}
 */
export function picture(graph, open) {
  const scopes = new Set(scopesOf(graph));
  /** For each scope, the drawn scopes around it, and the outermost that is collapsed. @type {Map<string, {path: string[], closed: string | undefined}>} */
  const around = new Map();
  for (const { scope } of graph.nodes) {
    if (around.has(scope)) continue;
    const path = enclosing(scope).filter((each) => scopes.has(each));
    around.set(scope, { path, closed: path.find((each) => !open.has(each)) });
  }
  const parts = partsOf(
    graph,
    new Map(
      graph.nodes.map(({ name, scope }) => [name, around.get(scope)?.closed ?? `node:${name}`]),
    ),
  );
  /** @type {Map<string, Item>} by id */
  const items = new Map();
  /** @type {Map<string, Cluster>} by id */
  const clusters = new Map();
  /** @type {Map<string, string>} node name → id of the item that shows it */
  const shownBy = new Map();
  /** @type {Map<string, number>} item id → position of its first node that computes */
  const begins = new Map();

  for (const [position, node] of graph.nodes.entries()) {
    const { path, closed } = around.get(node.scope) ?? { path: [], closed: undefined };
    const outer = closed === undefined ? path : path.slice(0, path.indexOf(closed));
    let parent = null;
    for (const each of outer) {
      const id = scopeId(each);
      if (!clusters.has(id)) clusters.set(id, { id, path: each, label: lastPart(each), parent });
      parent = id;
    }
    if (closed === undefined) {
      // The name of a scope with a single node says more than the node's name.
      const alone = node.scope && !scopes.has(node.scope) ? lastPart(node.scope) : undefined;
      items.set(node.name, nodeItem(node, parent, alone));
      shownBy.set(node.name, node.name);
    } else {
      const id = scopeId(closed, parts.get(node.name));
      const known = items.get(id);
      if (known?.kind === "scope") known.nodes.push(node);
      else items.set(id, scopeItem(id, closed, node, parent));
      shownBy.set(node.name, id);
    }
    const id = shownBy.get(node.name) ?? "";
    if (node.phase !== "variable" && !begins.has(id)) begins.set(id, position);
  }
  const folded = [...items.values()].filter((item) => item.kind === "scope");
  for (const item of folded)
    finish(
      item,
      folded.filter(({ path }) => path === item.path),
    );
  // Items that only hold variables come first.
  const beginning = (/** @type {Item} */ { id }) => begins.get(id) ?? -1;
  return {
    items: [...items.values()].sort((a, b) => beginning(a) - beginning(b)),
    clusters: [...clusters.values()],
    arrows: arrows(graph, shownBy),
  };
}

/** @param {Graph} graph @param {Map<string, string>} shownBy */
function arrows(graph, shownBy) {
  /** @type {Map<string, Arrow>} */
  const joined = new Map();
  for (const { from, to, control } of graph.edges) {
    const [start, end] = [shownBy.get(from), shownBy.get(to)];
    if (start === undefined || end === undefined || start === end) continue;
    const key = `${start}\n${end}`;
    const known = joined.get(key);
    if (!known) joined.set(key, { from: start, to: end, control, count: 1 });
    else {
      known.count += 1;
      known.control &&= control;
    }
  }
  return [...joined.values()];
}

/** @param {GraphNode} node @param {string | null} parent @param {string} [name] @returns {NodeItem} */
function nodeItem(node, parent, name = lastPart(node.name)) {
  const label = clipped(name);
  const size = node.shape?.map((each) => each ?? "?").join("×");
  const detail = clipped(
    [node.op === lastPart(node.name) ? "" : node.op, size].filter(Boolean).join(" "),
  );
  return {
    id: node.name,
    kind: "node",
    node,
    label,
    detail,
    parent,
    width: widthOf(label, detail),
    height: HEIGHT,
  };
}

/** @param {string} id @param {string} path @param {GraphNode} node @param {string | null} parent @returns {ScopeItem} */
function scopeItem(id, path, node, parent) {
  const label = clipped(lastPart(path));
  return {
    id,
    kind: "scope",
    path,
    label,
    detail: "",
    nodes: [node],
    parent,
    width: 0,
    height: HEIGHT + 6,
  };
}

/** @param {ScopeItem} item @param {ScopeItem[]} parts of its scope */
function finish(item, parts) {
  if (parts.length > 1) item.label = partLabel(item, parts);
  item.detail = t().graph.operations(item.nodes.length);
  item.width = widthOf(item.label, item.detail) + 18;
}

/** The label of a part of a scope: in a training step its phase, where that tells the parts apart. @param {ScopeItem} item @param {ScopeItem[]} parts */
function partLabel({ path, label, nodes }, parts) {
  const words = t().graph;
  const uses = new Set(parts.map((part) => mainPhase(part.nodes)));
  if (lastPart(path) === STEP_SCOPE && uses.size === parts.length)
    return words.namedPart(label, words.stepParts[mainPhase(nodes)]);
  return words.part(label, parts.findIndex((part) => part.nodes === nodes) + 1, parts.length);
}

/** The phase of most nodes; variables have a part in every phase. @param {GraphNode[]} nodes */
function mainPhase(nodes) {
  const active = nodes.filter(({ phase }) => phase !== "variable");
  return census(active.length > 0 ? active : nodes, ({ phase }) => phase).reduce((most, each) =>
    each[1] > most[1] ? each : most,
  )[0];
}

/**
 * The number of nodes of each kind. The first kind gives a collapsed scope its colour: computing kinds
 * precede variables and inputs, as they say more about the scope.
 * @param {GraphNode[]} nodes
 * @param {(node: GraphNode) => string} kindOf
 * @returns {[string, number][]}
 */
export function census(nodes, kindOf) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const node of nodes) counts.set(kindOf(node), (counts.get(kindOf(node)) ?? 0) + 1);
  const isPassive = (/** @type {string} */ kind) => Number(kind === "variable" || kind === "input");
  return [...counts].sort(([a, m], [b, n]) => isPassive(a) - isPassive(b) || n - m);
}

/** @param {string} path */
const lastPart = (path) => path.slice(path.lastIndexOf("/") + 1);

/** @param {string} text */
const clipped = (text) => (text.length > 22 ? `${text.slice(0, 21)}…` : text);

/** @param {string} label @param {string} detail */
const widthOf = (label, detail) =>
  Math.round(
    Math.max(
      64,
      24 + Math.max(characters(label) * LABEL_CHARACTER, characters(detail) * DETAIL_CHARACTER),
    ),
  );

/** The number of characters, of which Chinese ones are wide. @param {string} text */
const characters = (text) =>
  text.length + WIDE_CHARACTER * (text.match(/\p{Script=Han}/gu)?.length ?? 0);
