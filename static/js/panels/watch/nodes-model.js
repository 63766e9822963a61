/** The graph of a model that classifies nodes, as the picture and its words use it. */

import { floats, integers } from "../../training/task.js";

/**
 * @import { EdgeMessages, NodeData, TaskView } from "../../../engine/messages.js"
 * @typedef {Extract<TaskView, {shows: "nodes"}>} NodesView
 * @typedef {{numbers: Int32Array, names: string[], pairs: Int32Array, labels: Int32Array, trains: Uint8Array, classes: number,
 *            total: number, totalLines: number, first: Int32Array, ends: Int32Array, lines: Int32Array}} NodesGraph
 *   `names`: of the nodes, [] if they are not known; the neighbours of node i are `ends`, along `lines`, from `first[i]` up to `first[i + 1]`
 * @typedef {{layer: string, weights: Float32Array, own: Float32Array, most: number}} Messages
 *   `weights`: along each line to its second node, then along each to its first one; `most`: the largest of them
 * @typedef {{predicted: Int32Array, chances: Float32Array | null, messages: Messages[]}} NodesAnswer
 * @typedef {"predicted" | "true" | "right"} Colouring
 * @typedef {{node: number, weight: number}} Message from a node; `weight`: NaN for one that is not known
 */

/** @param {NodeData} data @returns {NodesGraph} */
export function graphOf(data) {
  const [numbers, pairs] = [integers(data.numbers), integers(data.pairs)];
  const first = new Int32Array(numbers.length + 1);
  for (const end of pairs) first[end + 1] += 1;
  for (let at = 0; at < numbers.length; at += 1) first[at + 1] += first[at];
  const next = first.slice();
  const [ends, lines] = [new Int32Array(pairs.length), new Int32Array(pairs.length)];
  pairs.forEach((end, place) => {
    ends[next[end]] = pairs[place ^ 1];
    lines[next[end]] = place >> 1;
    next[end] += 1;
  });
  return {
    numbers,
    names: data.names,
    pairs,
    labels: integers(data.labels),
    trains: data.trains.slice(),
    classes: data.classes,
    total: data.total,
    totalLines: data.total_lines,
    first,
    ends,
    lines,
  };
}

/** @param {NodesView} view @returns {NodesAnswer} */
export function answerOf(view) {
  const { data, attention, predicted, chances } = view;
  return {
    predicted: integers(predicted),
    chances: chances && floats(chances),
    messages: [...attention, .../** @type {NodeData} */ (data).messages].map(messagesOf),
  };
}

/** @param {EdgeMessages} messages @returns {Messages} */
function messagesOf({ layer, weights, own }) {
  const values = floats(weights);
  const most = values.reduce((so, each) => Math.max(so, each || 0), 0); // NaN counts as 0
  return { layer, weights: values, own: floats(own), most };
}

/** The neighbours of a node. @param {NodesGraph} graph @param {number} node */
export const neighboursOf = ({ first, ends }, node) =>
  node < 0 ? new Int32Array(0) : ends.subarray(first[node], first[node + 1]);

/**
 * What arrives at a node from its neighbours, the heaviest message first; without weights in the order of the nodes.
 * @param {NodesGraph} graph
 * @param {number} node
 * @param {Messages | null} messages
 * @returns {Message[]}
 */
export function arriving({ first, ends, lines, pairs }, node, messages) {
  const found = Array.from({ length: first[node + 1] - first[node] }, (_, at) => {
    const place = first[node] + at;
    const line = lines[place];
    const back = pairs[2 * line] === node ? pairs.length / 2 : 0;
    return { node: ends[place], weight: messages ? messages.weights[line + back] : NaN };
  });
  if (!messages) return found;
  return found
    .filter(({ weight }) => !Number.isNaN(weight)) // no edge leads here
    .sort((one, other) => other.weight - one.weight);
}

/** The heavier message along a line, as a part of the heaviest of all. @param {Messages} messages @param {number} line @param {number} lines */
export function strength({ weights, most }, line, lines) {
  const [there, back] = [weights[line] || 0, weights[line + lines] || 0];
  return most > 0 ? Math.max(there, back, 0) / most : 0;
}
