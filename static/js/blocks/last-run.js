/** What the last run of a program shows of its cards: the operations that their lines created. */

/** @import { Graph } from "../../engine/messages.js" */
/** @import { Item, Program, Shape } from "./types.js" */

/** @typedef {{shape: Shape, parameters: number, layers: string[]}} Measured `layers`: names of those that ran */

/**
 * Cards that share a line with another are left out: a line does not say which of them it was.
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
    const isShared = items.some((other) => {
      const [from, to] = lines.get(other.id) ?? [0, 0];
      return other !== item && from <= last && to >= first;
    });
    const result = isShared ? null : measureLines(graph, first, last);
    if (result) results.set(item.id, result);
  }
  return results;
}

/** The first and the last line of a card, counted from 1. @param {string} text @param {Item} item @returns {[number, number]} */
export function linesOf(text, item) {
  const { from, to } = item.call ?? item;
  const line = (/** @type {number} */ position) => text.slice(0, position).split("\n").length;
  return [line(from), line(from + text.slice(from, to).trimEnd().length)];
}

/** @param {Graph} graph @param {number} first @param {number} last @returns {Measured | null} */
function measureLines({ nodes }, first, last) {
  const created = nodes.filter(({ line }) => line !== null && line >= first && line <= last);
  const forward = created.filter(({ phase }) => phase === "forward");
  const shape = forward[forward.length - 1]?.shape;
  // The batch, of any size, is first.
  if (!shape || shape.length === 0 || shape[0] !== null) return null;
  const variables = created.filter(({ op }) => op === "variable");
  const parameters = variables.reduce((sum, { shape: sizes }) =>
    sum + (sizes ?? []).reduce((/** @type {number} */ all, size) => all * (size ?? 0), 1), 0);
  const layers = [...new Set(forward.map(({ scope }) => scope.split("/")[0]))].filter(Boolean);
  return { shape: shape.slice(1), parameters, layers };
}
