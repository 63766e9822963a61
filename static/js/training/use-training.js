/** Hooks for components that follow a training. */

import { effect, untracked, useEffect, useRef, useState } from "../../vendor/preact.js";
import { FRAME_MS } from "../state/frame-scheduler.js";
import * as store from "../state/store.js";

/** A curve is drawn again when it has grown by this part: a few pixels. To draw it is the most that a view costs. */
const GROWTH = 0.01;
/** The shortest time between two redraws, every other scheduled frame, and the longest. */
const [SHORTEST_MS, LONGEST_MS] = [1.5 * FRAME_MS, 1000];

/** The milliseconds from one redraw of a curve to the next. @param {number} seconds that were trained */
export const redrawAfter = (seconds) =>
  Math.min(LONGEST_MS, Math.max(SHORTEST_MS, 1000 * GROWTH * seconds));

/**
 * Call a function at each progress of the training, without drawing the component again: a view that
 * waits for an answer of the engine has nothing new to show until it comes.
 *
 * It is called in the frame of the progress. A `useSignalEffect` would ask for a frame of its own.
 * @param {() => void} progressed
 */
export function useProgress(progressed) {
  const latest = useRef(progressed);
  latest.current = progressed;
  useEffect(
    () =>
      effect(() => {
        void store.progress.value;
        untracked(() => latest.current());
      }),
    [],
  );
}

/** Draw the component again when the curves have grown visibly, and at the end of the run. */
export function useCurvesVersion() {
  const [version, setVersion] = useState(store.curvesVersion.peek());
  useEffect(() => {
    let timer = 0;
    let last = -LONGEST_MS;
    const take = () => {
      clearTimeout(timer);
      timer = 0;
      last = performance.now();
      setVersion(store.curvesVersion.peek());
    };
    const end = effect(() => {
      void store.curvesVersion.value;
      const wait =
        store.runState.value === "running"
          ? last + redrawAfter(store.progress.peek().seconds) - performance.now()
          : 0;
      if (wait <= 0) take();
      else timer ||= setTimeout(take, wait + SHORTEST_MS); // unless more progress comes before
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, []);
  return version;
}
