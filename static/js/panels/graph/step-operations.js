/** A training step that the visitor goes through operation by operation. Python has run it on copies. */

import { computed, signal } from "../../../vendor/preact.js";
import { stepOperations } from "../../engine/questions.js";
import * as store from "../../state/store.js";

/** @import { Operation, StepOperations } from "../../../engine/messages.js" */
/** @typedef {"current" | "ready" | "waiting" | "done"} Light */

/** The step that is shown, with the graph that it belongs to; null if there is none. */
const looked = signal(/** @type {{step: StepOperations, graph: unknown} | null} */ (null));
export const shown = computed(() =>
  looked.value?.graph === store.graph.value ? (looked.value?.step ?? null) : null,
);
/** The number of operations that have run. */
export const at = signal(0);
export const asking = signal(false);
/** Why there is no step to show, in a sentence. */
export const problem = signal("");

/** How many of `store.operationSteps` were taken. @type {{steps: number}} */
const taken = { steps: 0 };

/** Ask for the step as it would run now, and begin at its start. */
export async function look() {
  if (asking.value) return;
  asking.value = true;
  problem.value = "";
  const graph = store.graph.value;
  try {
    const step = await stepOperations();
    if (graph !== store.graph.value) return; // another program runs
    at.value = 0;
    looked.value = { step, graph };
  } catch (failure) {
    problem.value = /** @type {Error} */ (failure).message;
  } finally {
    asking.value = false;
  }
}

/** Take the steps of one operation that the command Step has asked for, once there is a model. */
export function takeSteps() {
  const asked = store.operationSteps.value - taken.steps;
  if (asked <= 0 || asking.value || !store.liveModel.value || !store.graph.value) return;
  taken.steps = store.operationSteps.value;
  if (shown.value) go(at.value + asked);
  else look();
}

/** Show the step after this number of operations. @param {number} place */
export function go(place) {
  at.value = Math.min(Math.max(place, 0), shown.value?.operations.length ?? 0);
}

export function leave() {
  looked.value = null;
  problem.value = "";
}

/**
 * How many operations each one still waits for, after the first ones have run.
 * @param {Operation[]} operations
 * @param {number} done
 */
export function waitingCounts(operations, done) {
  const counts = operations.map(({ waits_for }) => waits_for);
  for (const { released } of operations.slice(0, done)) {
    for (const [place, , after] of released) counts[place] = after;
  }
  return counts;
}

/**
 * The ready queue after the first operations have run: the places of its operations, in order.
 * @param {Operation[]} operations
 * @param {number} done
 */
export const queueAfter = (operations, done) => operations[done]?.ready ?? [];

/**
 * The last operation of each device among the first ones.
 * @param {Operation[]} operations
 * @param {number} done
 * @returns {[string, Operation | null][]} by device, in the order of their names
 */
export function lastOfDevices(operations, done) {
  const last = new Map(
    [...new Set(operations.map(({ device }) => device))]
      .sort()
      .map((device) => [device, /** @type {Operation | null} */ (null)]),
  );
  for (const operation of operations.slice(0, done)) last.set(operation.device, operation);
  return [...last];
}

/**
 * The highlight of each operation in the graph: the one that ran last, and the ones that are ready, wait, or are
 * done. A fused operation lights all of its nodes.
 * @param {Operation[]} operations
 * @param {number} done
 * @returns {Map<string, Light>} by the names of nodes
 */
export function lights(operations, done) {
  /** @type {Map<string, Light>} */
  const lit = new Map();
  /** @param {Operation | undefined} operation @param {Light} light */
  const set = (operation, light) => {
    for (const name of operation ? [operation.name, ...operation.members] : [])
      lit.set(name, light);
  };
  operations.forEach((operation, place) => set(operation, place < done ? "done" : "waiting"));
  queueAfter(operations, done).forEach((place) => set(operations[place], "ready"));
  if (done > 0) set(operations[done - 1], "current");
  return lit;
}

/** The lights of the graph that is shown. */
export const lit = computed(() =>
  shown.value ? lights(shown.value.operations, at.value) : new Map(),
);

/**
 * The light of an item of the drawing; a scope has that of its most urgent node.
 * @param {string[]} names of its nodes
 * @param {ReadonlyMap<string, Light>} lit
 * @returns {Light | undefined}
 */
export function lightOf(names, lit) {
  const present = new Set(names.map((name) => lit.get(name)));
  return /** @type {const} */ (["current", "ready", "waiting", "done"]).find((light) =>
    present.has(light),
  );
}
