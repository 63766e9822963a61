/** Layouts of graphs of nodes, each computed in a worker of its own. A graph that is shown again stays as it was. */

import { useEffect, useMemo, useState } from "../../../vendor/preact.js";

/** @typedef {{points: Float32Array | null, isSettled: boolean, problem: string}} NodesLayout `points` (nodes, 2) */

/** Layouts that are kept, by graph, the latest last. @type {Map<string, Float32Array>} */
const kept = new Map();
const MOST_KEPT = 4;
/** @type {NodesLayout} */
const NONE = { points: null, isSettled: false, problem: "" };

const prefersRest = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * The places of nodes: those of the same graph before, or new ones, which come closer step by step.
 * @param {number} nodes
 * @param {Int32Array} pairs (lines, 2)
 * @returns {NodesLayout}
 */
export function useNodesLayout(nodes, pairs) {
  const name = useMemo(() => nameOf(nodes, pairs), [nodes, pairs]);
  const [state, setState] = useState({ name, ...(known(name) ?? NONE) });
  useEffect(() => {
    const before = known(name);
    if (before) {
      setState({ name, ...before });
      return;
    }
    return begin(nodes, pairs, (change) => {
      if (change.points && change.isSettled) keep(name, change.points);
      if (change.isSettled || change.problem || !prefersRest.matches)
        setState({ name, ...NONE, ...change });
    });
  }, [name]);
  // Until the effect of a change, the places are those of another graph.
  return state.name === name ? state : (known(name) ?? NONE);
}

/** @param {string} name @returns {NodesLayout | null} */
function known(name) {
  const points = kept.get(name);
  return points ? { points, isSettled: true, problem: "" } : null;
}

/** @param {string} name @param {Float32Array} points */
function keep(name, points) {
  kept.delete(name);
  kept.set(name, points);
  if (kept.size > MOST_KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
}

/** The graph as a text, which other graphs do not have: by the hash FNV-1a. @param {number} nodes @param {Int32Array} pairs */
function nameOf(nodes, pairs) {
  let hash = 0x811c9dc5;
  for (const each of pairs) hash = Math.imul(hash ^ each, 0x01000193);
  return `${nodes} ${pairs.length} ${hash}`;
}

/**
 * @param {number} nodes
 * @param {Int32Array} pairs
 * @param {(change: Partial<NodesLayout>) => void} tell
 * @returns {() => void} ends it
 */
function begin(nodes, pairs, tell) {
  const worker = new Worker(new URL("./nodes-layout-worker.js", import.meta.url), {
    type: "module",
  });
  const stop = () => worker.terminate();
  worker.onmessage = ({ data }) => {
    tell(data);
    if (data.isSettled || data.problem) stop();
  };
  worker.onerror = (event) => {
    stop();
    tell({ problem: event.message || "worker" });
  };
  // Another graph of as many nodes begins where they are, so that each can be followed.
  const last = [...kept.values()].at(-1);
  const start = last?.length === 2 * nodes ? last : null;
  worker.postMessage({ nodes, pairs, start });
  return stop;
}
