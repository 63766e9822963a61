/** Finding operations of the graph, by name or by their values. */

import { computed, signal } from "../../../vendor/preact.js";
import { findNodes } from "../../engine/questions.js";
import * as store from "../../state/store.js";

/** @import { Graph, NodeMatches } from "../../../engine/messages.js" */

/** More matches than these are marked, but their scopes stay closed until Enter comes to them. */
const MOST_REVEALED = 12;

/** The text of the search field. */
export const searched = signal("");
/** The answer to a query: for its text. */
const answered = signal(
  /** @type {{query: string, result: NodeMatches | null, failure: string} | null} */ (null),
);
export const isAsking = signal(false);

/** Whether a text asks for values, not for names. @param {string} text */
export const isQuery = (text) => /[()<>=|]/.test(text);

/** The names of the nodes whose name or operation contains a text. @param {Graph} graph @param {string} text */
export function namesWith(graph, text) {
  const part = text.trim().toLowerCase();
  if (!part) return [];
  return graph.nodes
    .filter(({ name, op }) => name.toLowerCase().includes(part) || op.toLowerCase().includes(part))
    .map(({ name }) => name);
}

/** The paths of all scopes that enclose nodes. @param {Graph} graph @param {ReadonlySet<string>} names */
export function scopesAround(graph, names) {
  /** @type {Set<string>} */
  const paths = new Set();
  for (const { name, scope } of graph.nodes) {
    if (!names.has(name)) continue;
    for (let path = scope; path; path = path.slice(0, Math.max(0, path.lastIndexOf("/"))))
      paths.add(path);
  }
  return paths;
}

/** The answer to the text in the field, if it is a query that was asked. */
export const answer = computed(() =>
  answered.value?.query === searched.value ? answered.value : null,
);

/** The names that match, in the order of the graph. */
export const matches = computed(() => {
  const graph = store.graph.value;
  if (!graph) return [];
  if (!isQuery(searched.value)) return namesWith(graph, searched.value);
  const known = new Set(graph.nodes.map(({ name }) => name));
  return (answer.value?.result?.matches ?? [])
    .map(([name]) => name)
    .filter((name) => known.has(name));
});

/** The scopes to open so that the matches show. @param {string | null} current the match that is selected */
export function revealed(current) {
  const graph = store.graph.value;
  if (!graph) return new Set();
  const names =
    matches.value.length <= MOST_REVEALED ? matches.value : current === null ? [] : [current];
  return scopesAround(graph, new Set(names));
}

/** Ask Python the query in the field. */
export async function ask() {
  const query = searched.value;
  isAsking.value = true;
  try {
    answered.value = { query, result: await findNodes(query), failure: "" };
  } catch (failure) {
    answered.value = { query, result: null, failure: /** @type {Error} */ (failure).message };
  } finally {
    isAsking.value = false;
  }
}

/** The match after or before the selected one. @param {1 | -1} direction @returns {string | null} */
export function nextMatch(direction) {
  const names = matches.value;
  if (!names.length) return null;
  const here = names.indexOf(store.selectedNode.value ?? "");
  if (here < 0) return direction > 0 ? names[0] : names[names.length - 1];
  return names[(here + direction + names.length) % names.length];
}
