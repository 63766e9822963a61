/** A measured training step of the current model. */

import { signal } from "../../../vendor/preact.js";
import { measureStep } from "../../engine/questions.js";
import * as store from "../../state/store.js";

/** @import { Execution, ExecutionEvent } from "../../../engine/messages.js" */

export const MOST_ZOOM = 64;

/** The step that was measured last, null if there is none for the graph that is shown. */
export const measured = signal(/** @type {Execution | null} */ (null));
export const measuring = signal(false);
/** Why a step could not be measured, in a sentence. */
export const problem = signal("");
/** Whether small operations get a kernel of their own. */
export const apart = signal(false);

/** The graph of the measured step. @type {{graph: unknown}} */
const of = { graph: null };

/** Run a step of the current model, which changes nothing, and time its operations. */
export async function measure() {
  if (measuring.value) return;
  measuring.value = true;
  problem.value = "";
  const graph = store.graph.value;
  try {
    const answer = await measureStep(apart.value);
    if (graph !== store.graph.value) return; // another program runs
    of.graph = graph;
    measured.value = answer;
  } catch (failure) {
    problem.value = /** @type {Error} */ (failure).message;
  } finally {
    measuring.value = false;
  }
}

/** Drop measurements of an earlier graph. */
export function graphChanged() {
  if (of.graph === store.graph.value) return;
  measured.value = null;
  problem.value = "";
}

/**
 * The first node of an event that is in the graph: the compiler adds some that are not.
 * @param {ExecutionEvent} event
 * @param {import("../../../engine/messages.js").Graph | null} graph
 */
export function nodeOf({ nodes }, graph) {
  const known = new Set(graph?.nodes.map(({ name }) => name));
  return nodes.find((name) => known.has(name)) ?? null;
}

/** The event that computes a node. @param {Execution | null} execution @param {string | null} node */
export const eventOf = (execution, node) =>
  node === null ? null : (execution?.events.find(({ nodes }) => nodes.includes(node)) ?? null);

/**
 * The slowest operations first, each with its share of the time of all.
 * @param {ExecutionEvent[]} events
 * @param {number} most
 * @returns {{rows: {event: ExecutionEvent, took: number, share: number}[], others: {count: number, took: number, share: number} | null}}
 */
export function slowest(events, most) {
  const took = (/** @type {ExecutionEvent} */ { start, end }) => end - start;
  const whole = events.reduce((sum, event) => sum + took(event), 0) || 1;
  const rows = events
    .map((event) => ({ event, took: took(event), share: took(event) / whole }))
    .sort((a, b) => b.took - a.took);
  const rest = rows.slice(most);
  const restTook = rest.reduce((sum, row) => sum + row.took, 0);
  return {
    rows: rows.slice(0, most),
    others:
      rest.length > 0 ? { count: rest.length, took: restTook, share: restTook / whole } : null,
  };
}

/**
 * The scroll position that keeps the same time under a point when the zoom changes.
 * @param {number} scroll position before
 * @param {number} x of the point, from the left edge of the visible part
 * @param {number} ratio of the new width to the old
 */
export const scrollAfterZoom = (scroll, x, ratio) => Math.max(0, (scroll + x) * ratio - x);
