/** How warm the operations of the graph are: by the time that they take, or the size of their values. */

import { signal } from "../../../vendor/preact.js";
import { findNodes, measureStep } from "../../engine/questions.js";
import * as store from "../../state/store.js";
import { reasonOf } from "./node-words.js";

/** @import { ExecutionEvent } from "../../../engine/messages.js" */
/** @typedef {"time" | "magnitude"} Measure */

/** The class of operations without a measurement. */
export const UNKNOWN = "heat-none";
/** The least values of the classes heat-1, heat-2 and so on; smaller ones are heat-0. */
export const LEAST = {
  /** Shares of the time of the slowest operation. */
  time: [0.01, 0.05, 0.2, 0.5],
  /** Largest absolute values. */
  magnitude: [1e-3, 0.1, 10, 1000],
};
/** Every operation has a largest absolute value, unless it is not a number. */
const ALL = "value(*) |max| >= 0";

/**
 * The operations that were measured last, the quantity, and their graph.
 * @type {import("@preact/signals-core").Signal<{measure: Measure, graph: unknown, values: Map<string, number>} | null>}
 */
export const heat = signal(null);
export const isMeasuring = signal(false);
/** Why there are no measurements, in a sentence. */
export const heatProblem = signal("");

/**
 * The seconds or milliseconds of each operation. What shares a kernel shares its time in equal parts.
 * @param {readonly Pick<ExecutionEvent, "nodes" | "start" | "end">[]} events
 */
export function timesOf(events) {
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const { nodes, start, end } of events) {
    for (const name of nodes)
      times.set(name, (times.get(name) ?? 0) + (end - start) / nodes.length);
  }
  return times;
}

/**
 * The class of a measurement.
 * @param {Measure} measure
 * @param {ReadonlyMap<string, number>} values
 * @param {string} name
 */
export function heatClass(measure, values, name) {
  const value = values.get(name);
  if (value === undefined) return UNKNOWN;
  const whole = measure === "time" ? Math.max(...values.values()) : 1;
  return `heat-${LEAST[measure].filter((least) => value >= least * whole).length}`;
}

/**
 * The colour of a scope: that of its warmest operation, or of most of its operations where colours are not heat.
 * @param {readonly (readonly [string, number])[]} parts classes and their numbers, the most frequent first
 */
export function leadingClass(parts) {
  const warm = parts
    .map(([name]) => name)
    .filter((name) => name.startsWith("heat-") && name !== UNKNOWN);
  return warm.sort().at(-1) ?? parts[0][0];
}

/** Measure the operations of the graph that is shown, once. @param {Measure} measure */
export async function measureHeat(measure) {
  const graph = store.graph.value;
  isMeasuring.value = true;
  heatProblem.value = "";
  let values = null;
  let problem = "";
  try {
    if (measure === "time") values = timesOf((await measureStep(true)).events);
    else {
      const found = await findNodes(ALL);
      if (found.problem) problem = reasonOf(found.problem);
      else values = new Map(found.matches);
    }
  } catch (failure) {
    problem = /** @type {Error} */ (failure).message;
  }
  isMeasuring.value = false;
  if (graph !== store.graph.value || measure !== store.graphColours.value) return; // answers another question
  heatProblem.value = problem;
  heat.value = values && { measure, graph, values };
}
