/** Measurements of a program's cards in its last run: the operations that their lines created. */

/** @import { Graph } from "../../engine/messages.js" */
/** @import { Item, Program, Shape } from "./types.js" */

/** @typedef {{shape: Shape, parameters: number, layers: string[]}} Measured `layers`: names of the layers that ran */

/**
 * Cards that share their line are told apart by the order of their scopes, if each has one. Others are left out: a line
 * does not say which of them it was.
 * @param {Program} program the one that ran
 * @param {Graph} graph of its training step
 * @returns {Map<number, Measured>} by the id of the item
 */
export function measure(program, graph) {
  const items = program.networks.flatMap((network) => network.items);
  const lines = new Map(items.map((item) => [item.id, linesOf(program.text, item)]));
  /** @type {Map<number, Measured>} */
  const results = new Map();
  for (const item of items) {
    const [first, last] = lines.get(item.id) ?? [0, 0];
    const sharing = items.filter((other) => {
      const [from, to] = lines.get(other.id) ?? [0, 0];
      return from <= last && to >= first;
    });
    const created = graph.nodes.filter(
      ({ line }) => line !== null && line >= first && line <= last,
    );
    const result =
      sharing.length === 1
        ? measureNodes(created)
        : measureNodes(partOf(created, sharing.indexOf(item), sharing.length));
    if (result) results.set(item.id, result);
  }
  return results;
}

/** @typedef {Graph["nodes"]} Nodes */

/** The name of a node's layer. @param {Nodes[number]} node */
const layerOf = ({ scope }) => scope.split("/")[0];

/** The names of the layers in nodes of a prediction. @param {Nodes} nodes */
const layersOf = (nodes) =>
  [...new Set(nodes.filter(({ phase }) => phase === "forward").map(layerOf))].filter(Boolean);

/**
 * The nodes of one of several cards on a line; none if there is not one layer for each card.
 * @param {Nodes} nodes @param {number} at @param {number} count
 */
function partOf(nodes, at, count) {
  const layers = layersOf(nodes);
  return layers.length === count ? nodes.filter((node) => layerOf(node) === layers[at]) : [];
}

/** The first and the last line of a card, counted from 1. @param {string} text @param {Item} item @returns {[number, number]} */
export function linesOf(text, item) {
  const { from, to } = item.call ?? item;
  const line = (/** @type {number} */ position) => text.slice(0, position).split("\n").length;
  return [line(from), line(from + text.slice(from, to).trimEnd().length)];
}

/** @param {Nodes} created by a card's lines @returns {Measured | null} */
function measureNodes(created) {
  const forward = created.filter(({ phase }) => phase === "forward");
  const shape = forward[forward.length - 1]?.shape;
  // The batch, of any size, is first.
  if (!shape || shape.length === 0 || shape[0] !== null) return null;
  const variables = created.filter(({ op }) => op === "variable");
  const parameters = variables.reduce(
    (sum, { shape: sizes }) =>
      sum + (sizes ?? []).reduce((/** @type {number} */ all, size) => all * (size ?? 0), 1),
    0,
  );
  return { shape: shape.slice(1), parameters, layers: layersOf(created) };
}
