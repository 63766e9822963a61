/** How the processor computes the operations of the graph: in compiled code, or in Python, and why. */

import { effect, signal } from "../../vendor/preact.js";
import * as store from "../state/store.js";
import { computedNodes as ask } from "./questions.js";

/** @import { PythonReason, UncompiledReason } from "../../engine/messages.js" */
/**
 * @typedef {{graph: unknown, operations: number, compiledOperations: number, compiled: ReadonlySet<string>,
 *            python: ReadonlyMap<string, PythonReason>, problem: UncompiledReason | null}} ComputedNodes
 */

/** The answer about the graph that is shown, once someone has looked; null before. @type {import("@preact/signals-core").Signal<ComputedNodes | null>} */
export const computedNodes = signal(null);

/** Another graph is computed otherwise. */
effect(() => {
  if (computedNodes.value && computedNodes.value.graph !== store.graph.value)
    computedNodes.value = null;
});

/** Ask how the graph that is shown is computed. What cannot be answered, because its program has ended, is unknown. */
export async function lookAtComputedNodes() {
  const graph = store.graph.value;
  if (!graph) return;
  try {
    const { operations, compiled_operations, compiled, python, problem } = await ask();
    if (graph !== store.graph.value) return;
    computedNodes.value = {
      graph,
      operations,
      compiledOperations: compiled_operations,
      compiled: new Set(compiled),
      python: new Map(/** @type {[string, PythonReason][]} */ (Object.entries(python))),
      problem,
    };
  } catch {
    computedNodes.value = null;
  }
}

/**
 * Whether Python computes one of these nodes between compiled ones.
 * @param {readonly string[]} names @param {ComputedNodes | null} computed
 */
export const hasPython = (names, computed) =>
  computed !== null && computed.python.size > 0 && names.some((name) => computed.python.has(name));
