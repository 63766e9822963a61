/** Runs programs beside the page's own run, each in an interpreter of its own. */

import { said } from "../engine/engine-words.js";
import { client } from "../engine/engine.js";
import * as store from "../state/store.js";
import { t } from "../words/locale.js";

/**
 * @import { PythonEvent, TrialOptions } from "../../engine/messages.js"
 *
 * @typedef {{source: string, heard: (event: PythonEvent) => void, ended: (reason: string) => void, trial?: TrialOptions, device?: string}} Job
 *   `heard`: gets the events of the run; `ended`: gets the reason when the interpreter has ended by itself;
 *   `trial`: the run is a trial of the program's sweep; `device`: the chosen one unless given
 * @typedef {ReturnType<typeof client.open>} Beside
 */

/** Each takes about this much memory, in GiB, as `navigator.deviceMemory` counts. */
const MEMORY_EACH = 1;
const MOST_AT_ONCE = 4;

/** The number of programs that this machine can run at the same time, beside the page. */
export function mostAtOnce() {
  const memory = /** @type {{deviceMemory?: number}} */ (navigator).deviceMemory ?? 4;
  const cores = (navigator.hardwareConcurrency || 2) - 1;
  return Math.max(1, Math.min(MOST_AT_ONCE, cores, Math.floor(memory / MEMORY_EACH) - 1));
}

/**
 * Run a program.
 * @param {Job} job
 * @returns {Beside}
 */
export function runBeside({ source, heard, ended, trial, device = store.deviceChoice.value }) {
  const interpreter = client.open((event) => {
    if (event.kind === "crash") ended(said(event.problem ?? event.message));
    else if (event.kind !== "ready") heard(/** @type {PythonEvent} */ (event));
    else {
      const options = {
        device,
        paused: false,
        phrases: t().output.printed,
        ...(trial && { trial }),
      };
      interpreter.post({ kind: "run", source, options });
    }
  }, ended);
  return interpreter;
}
