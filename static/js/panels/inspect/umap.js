/** Layouts by UMAP, each computed in a worker of its own, which is ended to cancel it. */

import { useEffect, useRef, useState } from "../../../vendor/preact.js";

/**
 * @import { UmapQuestion } from "./umap-layout.js"
 * @typedef {{part: number, points: Float32Array | null, problem: string, isCancelled: boolean}} UmapState
 *   `part`: the completed share, from 0 to 1
 */

/** @type {UmapState} */
const BEGUN = { part: 0, points: null, problem: "", isCancelled: false };

/**
 * A layout of `values`, computed anew when they or the settings are others.
 * @param {UmapQuestion} question
 * @returns {UmapState & {cancel: () => void, again: () => void}}
 */
export function useUmap(question) {
  const [state, setState] = useState(BEGUN);
  const [attempt, setAttempt] = useState(0);
  const stop = useRef(() => {});
  const tell = (/** @type {Partial<UmapState>} */ change) =>
    setState((now) => ({ ...now, ...change }));
  useEffect(() => {
    setState(BEGUN);
    return (stop.current = begin(question, tell));
  }, [question.values, question.neighbours, question.seed, attempt]);
  return {
    ...state,
    cancel: () => {
      stop.current();
      tell({ isCancelled: true });
    },
    again: () => setAttempt(attempt + 1),
  };
}

/**
 * @param {UmapQuestion} question
 * @param {(change: Partial<UmapState>) => void} tell
 * @returns {() => void} ends it
 */
function begin(question, tell) {
  const worker = new Worker(new URL("./umap-worker.js", import.meta.url), { type: "module" });
  const stop = () => worker.terminate();
  worker.onmessage = ({ data }) => {
    tell(data);
    if (data.part === undefined) stop();
  };
  worker.onerror = (event) => {
    stop();
    tell({ problem: event.message || "worker" });
  };
  worker.postMessage(question);
  return stop;
}
