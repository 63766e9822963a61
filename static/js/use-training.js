/** A hook for what follows a training. */

import { untracked, useSignalEffect } from "../vendor/preact.js";
import * as store from "./store.js";

/**
 * Call a function at each progress of the training, without drawing the component again: a view that
 * waits for an answer of the engine has nothing new to show until it comes.
 * @param {() => void} progressed
 */
export function useProgress(progressed) {
  useSignalEffect(() => {
    void store.progress.value;
    untracked(progressed);
  });
}
