/** The user's commands. Each changes the store at once, so that the page responds at once. */

import { batch, effect, untracked } from "../../vendor/preact.js";
import { SCRIPTS } from "../../engine/connect.js";
import { hurry } from "../../engine/downloads.js";
import { missingFeature } from "../start/boot-features.js";
import { keepStarting, startAgain } from "../start/boot-retry.js";
import { clearFindings } from "../training/doctor.js";
import { client } from "../engine/engine.js";
import { flushEvents } from "../engine/engine-events.js";
import { labRecorder } from "../panels/lab/lab-runs.js";
import { t } from "../words/locale.js";
import { refetchModule } from "../start/refetch.js";
import { beginBranch } from "../session/branches.js";
import { rememberRun } from "../session/session-parts.js";
import { isEmbedded } from "../sharing/embedded.js";
import * as store from "./store.js";

/** @import { Answers } from "../../engine/messages.js" */

/** How long Python has been up, or an example open, before its data sets are fetched. */
const DATA_MS = 1000;

/** Start the engine, restart it whenever it breaks, and begin work that waits for it. */
export function startEngine() {
  if (missingFeature()) {
    refuse();
    return;
  }
  keepStarting();
  effect(() => {
    if (store.engine.value === "starting") client.start();
  });
  effect(expectData);
  effect(() => {
    if (store.active.value) return;
    client.atRest();
    if (store.engine.value !== "up") return;
    if (store.resetPending.value) forget();
    const queued = store.queuedRun.value;
    if (queued) untracked(() => batch(() => launch(queued)));
  });
  effect(() => {
    // While nothing runs. Each answer triggers the next request, until nothing is left to measure.
    if (store.engine.value !== "up" || store.active.value || !store.gpu.value.info) return;
    if (store.tuning.value?.wanted ?? true) client.post({ kind: "tune" });
  });
}

/**
 * Fetch the data sets of a chosen example, or of a run that waits. Python comes first on a slow line,
 * and another program needs none of them.
 */
function expectData() {
  if (!store.exampleId.value || store.engine.value === "broken") return;
  const expect = () => client.expect(store.source.peek());
  if (store.queuedRun.value) return expect();
  if (store.engine.value !== "up") return;
  const timer = setTimeout(expect, DATA_MS);
  return () => clearTimeout(timer);
}

/** Say why nothing can run in this browser. */
function refuse() {
  store.engine.value = "broken";
  store.showError({ type: "EngineError", message: missingFeature(), line: null, op: null });
}

/** Load failed files again, without waiting. */
export function loadNow() {
  hurry.dispatchEvent(new Event("now"));
  if (store.engine.value === "broken") startAgain();
  if (store.engine.value !== "starting" || !store.loadProblems.value.python) return;
  store.reportLoading("python", "");
  client.start();
}

/** Search for a GPU again, and report the result. */
export async function lookForGpu() {
  store.gpu.value = { known: false, info: null, problem: null, isAsked: true };
  await refetchModule(SCRIPTS.plans);
  client.look();
}

/** Do the second half of a reset, after the run has ended. */
function forget() {
  store.resetPending.value = false;
  client.post({ kind: "reset" });
  store.runState.value = "idle";
  store.intent.value = null;
}

/** @param {store.Launch} how */
function launch({ paused, inLab, resumed, branch }) {
  flushEvents(); // events of the run before must not be applied to this one
  const kept = resumed ? store.resumable.value : null;
  store.queuedRun.value = null;
  store.past.value = null;
  if (store.branch.value?.began !== kept?.program.began) store.branch.value = null;
  clearFindings();
  if (kept) goOnFrom(kept);
  else if (branch) beginBranch(branch);
  else {
    store.clearRun();
    store.transcript.clear();
    store.outputOpen.value = null;
    const program = { exampleId: store.exampleId.value, source: store.source.value };
    store.executed.value = { ...program, began: Date.now() };
  }
  store.note("");
  store.transcriptVersion.value += 1;
  store.liveModel.value = false;
  store.game.value = null;
  store.clearTask();
  store.earlierSeconds.value = 0;
  store.runState.value = "running";
  store.intent.value = paused ? "step" : "run";
  if (!branch) store.runOptions.value = kept?.options ?? (inLab ? labRecorder.begin() : {});
  const options = {
    device: store.deviceChoice.value,
    paused,
    doctor: true,
    phrases: t().output.printed,
    ...store.runOptions.value,
  };
  const { source } = store.executed.value;
  const checkpoint = kept ?? branch;
  if (checkpoint)
    client.post({ kind: "run", source, options: { ...options, resume: true } }, checkpoint.bytes);
  else client.post({ kind: "run", source, options });
  if (paused) postStep();
  // So that the browser does not drop the session when the disk is nearly full.
  if (!isEmbedded) navigator.storage?.persist?.().catch(() => {});
}

/** Show the run that the kept weights belong to, up to their step. @param {import("./types.js").Kept} kept */
function goOnFrom(kept) {
  if (store.executed.value.began === kept.program.began) store.error.value = null;
  else store.clearRun();
  store.executed.value = kept.program;
  store.transcript.note(t().notes.resuming(kept.step, kept.totalSteps));
}

/** Run the code, after stopping the present run or waiting for the engine. */
export function run() {
  begin({ paused: false });
}

/** Run the code with the Lab's settings. */
export function runInLab() {
  begin({ paused: false, inLab: true });
}

/** Begin a run with the code at a checkpoint of the run that is shown, which stays in the table of runs. */
export function branchOff() {
  const branch = store.past.value;
  if (branch) begin({ paused: false, branch });
}

/** Look at the model as it was at a checkpoint, or at the end of the curve. @param {import("./types.js").Checkpoint | null} checkpoint */
export function lookAt(checkpoint) {
  store.past.value = checkpoint;
}

/** Measure the next step of the run in the Lab; a paused run trains one. */
export function traceStep() {
  client.post({ kind: "trace" });
  if (store.runState.value === "paused") step();
}

/** @param {store.Launch} how */
function begin(how) {
  store.hasChosen.value = true;
  if (missingFeature()) {
    refuse();
    return;
  }
  batch(() => {
    store.error.value = null;
    store.queuedRun.value = how;
    if (store.active.value) interrupt("stop");
    if (store.engine.value === "broken") {
      store.runState.value = "idle";
      store.engine.value = "starting";
    }
  });
}

export function pause() {
  store.intent.value = "pause";
  client.post({ kind: "pause" });
}

/** Continue the paused run; otherwise the run that the kept weights belong to. */
export function resume() {
  if (store.runState.value !== "paused") return begin({ paused: false, resumed: true });
  lookAt(null);
  store.intent.value = "resume";
  client.post({ kind: "resume" });
}

/** Train one batch or epoch, of the paused run or of a new one; or show one operation of a step. */
export function step() {
  if (store.stepUnit.value === "operation") {
    store.view.value = "graph";
    store.operationSteps.value += 1;
    if (store.liveModel.value || store.active.value) return;
  }
  if (store.runState.value !== "paused") return begin({ paused: true });
  lookAt(null);
  store.intent.value = "step";
  postStep();
}

const postStep = () => {
  const unit = store.stepUnit.value;
  if (unit !== "operation") client.post({ kind: "step", unit });
};

/** Train on with another learning rate. @param {number} value */
export function setLearningRate(value) {
  if (store.active.value) client.post({ kind: "set_learning_rate", value });
}

export function stop() {
  store.queuedRun.value = null;
  if (store.active.value) interrupt("stop");
}

/** @param {"stop" | "reset"} why */
function interrupt(why) {
  store.intent.value = why;
  client.stop(() =>
    batch(() => {
      restart();
      store.intent.value = null;
      store.runState.value = "stopped";
      labRecorder.runEnded("stopped");
    }),
  );
}

/** Start Python anew, because it does not stop. */
function restart() {
  const left = store.kept.value ? t().notes.weightsKept : "";
  store.note(t().numbers.sentences([t().notes.restarted, left]));
  store.liveModel.value = false;
  store.hasNamespace.value = false;
  store.engine.value = "starting";
}

/**
 * Execute code with the names of the program, between two steps of its training or after its end.
 * What it prints arrives as output.
 * @param {string} code
 */
export async function executePrompt(code) {
  store.transcript.typed(code);
  store.transcriptVersion.value += 1;
  store.outputOpen.value = null;
  store.promptBusy.value = true;
  try {
    await client.ask({ kind: "prompt", code });
  } catch (failure) {
    store.transcript.note(t().notes.promptEnded(/** @type {Error} */ (failure).message));
    store.transcriptVersion.value += 1;
  }
  store.promptBusy.value = false;
}

/** Interrupt the code of the prompt. Python is restarted if nothing else helps and no program runs. */
export function interruptPrompt() {
  client.interruptPrompt(() => {
    if (store.active.value) store.note(t().notes.promptGoesOn);
    else batch(restart);
  });
}

/**
 * The names that can follow at the end of a text.
 * @param {string} text
 * @returns {Promise<Answers["complete"]>}
 */
export async function completeNames(text) {
  return await client.ask({ kind: "complete", text });
}

/** Stop, and clear curves and weights; the code stays. Weights that were kept can be brought back. */
export function reset() {
  flushEvents();
  const checkpoints = store.checkpoints.value;
  const restore = rememberRun();
  const undo = () => {
    restore();
    store.checkpoints.value = checkpoints;
  };
  const hadWeights = store.kept.value !== null;
  batch(() => {
    store.queuedRun.value = null;
    store.clearResults();
    clearFindings();
    store.kept.value = null;
    if (hadWeights) store.note(t().notes.cleared, t().notes.undo, () => bringBack(undo));
    else store.note("");
    store.resetPending.value = true;
    if (store.active.value) interrupt("reset");
  });
}

/** Undo a reset. @param {() => void} undo */
function bringBack(undo) {
  if (store.active.value || store.resetPending.value) return;
  undo();
  store.note("");
}
