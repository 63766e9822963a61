/** The graph in two tables that a visitor brings. Python reads them. */

import { client } from "../engine/engine.js";
import { engineUp } from "../files/model-files.js";
import { t } from "../words/locale.js";

/**
 * @import { GraphChoice, GraphFiles, GraphSide } from "../../engine/messages.js"
 * @import { EngineFailure } from "../engine/engine-client.js"
 * @import { TableFile } from "./intake.js"
 */

/**
 * What the tables mean, and the graph in them.
 * @param {[TableFile, TableFile]} files
 * @param {GraphChoice} [choice] guessed otherwise
 * @returns {Promise<GraphFiles>}
 * @throws {EngineFailure} a file is not a table
 */
export async function graphFiles([one, other], choice) {
  await engineUp();
  const payload = new Uint8Array(one.bytes.length + other.bytes.length);
  payload.set(one.bytes);
  payload.set(other.bytes, one.bytes.length);
  /** @type {[string, string]} */
  const names = [one.name, other.name];
  return await client.ask(
    { kind: "graph_files", names, first: one.bytes.length, ...(choice ? { choice } : {}) },
    payload,
  );
}

/** What is wrong with a file, in a sentence. @param {unknown} failure */
export function problemIn(failure) {
  const { message, info } = /** @type {EngineFailure} */ (failure);
  return t().dataGraphs.problem({ message, code: "", values: {}, ...info?.problem });
}

/**
 * A choice with the nodes in the other file.
 * @param {GraphSide[]} sides
 * @param {GraphChoice} choice
 * @returns {GraphChoice}
 */
export function exchanged(sides, { nodes, directed }) {
  const [node, edge] = [sides[1 - nodes], sides[nodes]];
  const [id, ...others] = node.columns;
  return {
    nodes: 1 - nodes,
    id,
    label: null,
    features: others.filter((_, at) => node.usable[at + 1]),
    source: edge.columns[0],
    target: edge.columns[1] ?? edge.columns[0],
    directed,
  };
}

/** Names of columns at both ends of edges, as Python expects them. */
const SOURCES = ["source", "from", "src"];
const TARGETS = ["target", "to", "dst"];

/** Whether a table seems to be the edges of a graph. @param {string[]} titles of its columns */
export function seemsEdges(titles) {
  const lower = titles.map((title) => title.toLowerCase());
  return [SOURCES, TARGETS].every((usual) => usual.some((each) => lower.includes(each)));
}
