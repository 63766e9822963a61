/** Hooks for what follows a training. */

import { effect, untracked, useEffect, useRef, useState } from "../vendor/preact.js";
import { BEAT_MS } from "./beat.js";
import * as store from "./store.js";

/** The shortest time between redraws of a curve, which is every other beat: it needs no more, and training needs the processor. */
const REDRAW_MS = 1.5 * BEAT_MS;

/**
 * Call a function at each progress of the training, without drawing the component again: a view that
 * waits for an answer of the engine has nothing new to show until it comes.
 *
 * It is called in the beat of the progress. A `useSignalEffect` would ask for a frame of its own.
 * @param {() => void} progressed
 */
export function useProgress(progressed) {
  const latest = useRef(progressed);
  latest.current = progressed;
  useEffect(() => effect(() => {
    void store.progress.value;
    untracked(() => latest.current());
  }), []);
}

/** Draw the component again when the curves have grown: a few times a second, and at the end of the run. */
export function useCurvesVersion() {
  const [version, setVersion] = useState(store.curvesVersion.peek());
  useEffect(() => {
    let timer = 0;
    let last = -REDRAW_MS;
    const take = () => {
      clearTimeout(timer);
      timer = 0;
      last = performance.now();
      setVersion(store.curvesVersion.peek());
    };
    const end = effect(() => {
      void store.curvesVersion.value;
      const wait = store.runState.value === "running" ? last + REDRAW_MS - performance.now() : 0;
      if (wait <= 0) take();
      else timer ||= setTimeout(take, 2 * REDRAW_MS); // unless more progress comes before
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, []);
  return version;
}
