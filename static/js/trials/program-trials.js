/**
 * The trials of a program's `pg.sweep`, in interpreters beside its own. What they tell the sweep and its answers pass
 * through here: see `app/playgrad/page/trial_pool.py`.
 */

import { effect } from "../../vendor/preact.js";
import { client } from "../engine/engine.js";
import { EventQueue } from "../engine/event-queue.js";
import * as store from "../state/store.js";
import { t } from "../words/locale.js";
import { mostAtOnce, runBeside } from "./trial-runner.js";
import { Trial, record } from "./trials.js";

/**
 * @import { EngineEvent } from "../engine/engine-client.js"
 * @import { PythonEvent, TrialStart, TrialVerdict } from "../../engine/messages.js"
 * @import { Beside } from "./trial-runner.js"
 *
 * @typedef {{trial: Trial, interpreter: Beside}} Running
 */

/** As many as a sweep can have at the same time. */
const MOST_WAITING = 256;

/** @type {TrialStart[]} */
const waiting = [];
/** By the number that the sweep has given it. @type {Map<number, Running>} */
const running = new Map();

effect(() => {
  if (!store.active.value) endTrials();
});

/** Run a trial as soon as there is a place. @param {TrialStart} start */
export function startTrial(start) {
  if (waiting.length < MOST_WAITING) waiting.push(start);
  beginNext();
}

/** Pass on the answer to a trial that waits for it. @param {TrialVerdict} verdict */
export function answerTrial({ trial, continues }) {
  running.get(trial)?.interpreter.post({ kind: "trial_verdict", continues });
}

/** End all trials. */
export function endTrials() {
  waiting.length = 0;
  for (const { interpreter } of running.values()) interpreter.close();
  running.clear();
}

function beginNext() {
  while (running.size < mostAtOnce()) {
    const start = waiting.shift();
    if (!start) return;
    begin(start);
  }
}

/** @param {TrialStart} start */
function begin({ trial: number, title, options }) {
  const { source } = store.executed.value;
  const trial = new Trial(title, source);
  trial.begin([...running.values()].map((each) => each.trial));
  let hasTold = false;
  /** @param {string} message @param {Uint8Array} [weights] */
  const tell = (message, weights) =>
    client.post({ kind: "trial_message", trial: number, message }, weights);
  const finish = (/** @type {string} */ problem = "") => {
    if (running.get(number)?.trial !== trial) return;
    running.delete(number);
    interpreter.close();
    if (problem) Object.assign(trial, { problem, state: "error" });
    const text = trial.problem || t().trials.notReached;
    if (!hasTold) tell(JSON.stringify({ kind: "error", text }));
    record(trial, title);
    beginNext();
  };
  const queue = new EventQueue((events) => {
    for (const event of /** @type {PythonEvent[]} */ (events)) {
      if (event.kind === "trial_message") {
        tell(event.message, event.weights);
        if (event.is_last) {
          hasTold = true;
          trial.state = "done";
          finish(); // before the sweep ends
        }
      } else if (trial.hear(event)) finish();
    }
  });
  const interpreter = runBeside({
    source,
    trial: options,
    heard: (event) => queue.push(/** @type {EngineEvent} */ (event)),
    ended: finish,
  });
  running.set(number, { trial, interpreter });
}
