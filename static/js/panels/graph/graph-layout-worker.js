/** The worker behind graph-layout.js. */

import { graphlib, layout } from "../../../vendor/dagre.js";
import { layers } from "./graph-layers.js";

/**
 * @typedef {{id: number, direction: "LR" | "TB",
 *            items: {id: string, parent: string | null, width: number, height: number}[],
 *            clusters: {id: string, parent: string | null}[],
 *            arrows: {from: string, to: string, weight: number}[]}} Question
 * @typedef {{x: number, y: number}} Point
 */

self.onmessage = ({ data }) => {
  try {
    self.postMessage({ id: data.id, layout: isLarge(data) ? layers(data) : answer(data) });
  } catch (problem) {
    self.postMessage({ id: data.id, error: String(problem) });
  }
};

/** The most items that dagre lays out, and the most together with the layers that arrows pass: its time grows with their square. */
const MOST_ITEMS = 300;
const MOST_PLACES = 1500;
/** Name of the edges that are laid out in reverse. */
const BACK = "back";

/**
 * Whether dagre would take many seconds: it places an item in every layer that an arrow passes.
 * @param {Question} question
 */
function isLarge({ items, arrows }) {
  if (items.length > MOST_ITEMS) return true;
  const order = new Map(items.map(({ id }, index) => [id, index]));
  const ends = arrows
    .map(({ from, to }) => [order.get(from) ?? 0, order.get(to) ?? 0])
    .filter(([from, to]) => from < to);
  const layer = items.map(() => 0);
  for (const [from, to] of ends.sort(([a], [b]) => a - b))
    layer[to] = Math.max(layer[to], layer[from] + 1);
  const passed = ends.reduce((sum, [from, to]) => sum + layer[to] - layer[from] - 1, 0);
  return items.length + passed > MOST_PLACES;
}

/**
 * Lay out a picture. Arrows lead from earlier items to later ones, except where collapsed scopes form
 * a cycle: there, arrows that lead back are laid out in reverse. Otherwise dagre would choose the
 * arrows to reverse.
 *
 * @param {Question} question
 * @returns {import("./graph-layout.js").Layout}
 */
function answer({ direction, items, clusters, arrows }) {
  const graph = new graphlib.Graph({ compound: true, multigraph: true });
  graph.setGraph({
    rankdir: direction,
    nodesep: 18,
    ranksep: 26,
    edgesep: 10,
    marginx: 16,
    marginy: 16,
  });
  for (const { id } of clusters) graph.setNode(id, { width: 0, height: 0 });
  for (const { id, width, height } of items) graph.setNode(id, { width, height });
  for (const { id, parent } of [...clusters, ...items]) if (parent) graph.setParent(id, parent);
  const order = new Map(items.map(({ id }, index) => [id, index]));
  const edges = arrows.map(({ from, to, weight }) => {
    const isBack = (order.get(from) ?? 0) > (order.get(to) ?? 0);
    const edge = isBack ? { v: to, w: from, name: BACK } : { v: from, w: to };
    graph.setEdge(edge, { weight });
    return edge;
  });
  layout(graph);

  const { width = 0, height = 0 } = graph.graph();
  const boxes = Object.fromEntries(
    [...clusters, ...items].map(({ id }) => {
      const { x, y, width: w, height: h } = graph.node(id);
      return [id, { x, y, width: w, height: h }];
    }),
  );
  const paths = edges.map((edge) => {
    const { points } = graph.edge(edge);
    return smooth(edge.name === BACK ? [...points].reverse() : points);
  });
  return { width, height, boxes, paths };
}

/** A curve through the midpoints of the points. @param {Point[]} points */
function smooth(points) {
  const at = (/** @type {Point} */ { x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const middle = (/** @type {Point} */ a, /** @type {Point} */ b) =>
    at({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  const curves = points
    .slice(1, -1)
    .map((point, index) => `Q${at(point)} ${middle(point, points[index + 2])}`);
  const start =
    points.length > 2 ? `M${at(points[0])}L${middle(points[0], points[1])}` : `M${at(points[0])}`;
  return `${start}${curves.join("")}L${at(points[points.length - 1])}`;
}
