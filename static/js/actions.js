/** What the user can ask for. Each changes the store at once, so that the page answers at once. */

import { batch, effect, signal, untracked } from "../vendor/preact.js";
import { EngineClient, EngineFailure, Request } from "./engine-client.js";
import { receive } from "./engine-events.js";
import * as format from "./format.js";
import { beginLabRun, labRunEnded } from "./lab-runs.js";
import * as store from "./store.js";

/**
 * Files with more bytes than this, and than these many times the weights in float32, are not read at
 * all; in smaller ones what does not fit is named.
 */
const LEAST_LIMIT = 64 << 20;
const MOST_TIMES = 4;

const client = new EngineClient(receive);

const resetWanted = signal(false);

/** Start the engine, start it again whenever it breaks, and do what has to wait for it. */
export function startEngine() {
  if (!globalThis.crossOriginIsolated) {
    store.engine.value = "broken";
    store.error.value = notIsolated;
    return;
  }
  effect(() => {
    if (store.engine.value === "starting") client.start();
  });
  effect(() => {
    // Another example, or Python afresh.
    if (store.exampleId.value && store.engine.value !== "broken") client.expect(store.source.peek());
  });
  effect(() => {
    if (store.active.value) return;
    client.atRest();
    if (store.engine.value !== "up") return;
    if (resetWanted.value) forget();
    const queued = store.queuedRun.value;
    if (queued) untracked(() => batch(() => launch(queued)));
  });
  effect(() => {
    // While nothing runs; each answer makes it ask again until nothing more is wanted.
    if (store.engine.value !== "up" || store.active.value || !store.gpu.value.info) return;
    if (store.tuning.value?.wanted ?? true) client.post(Request.TUNE);
  });
}

/** @type {import("./types.js").ErrorInfo} */
const notIsolated = {
  type: "EngineError",
  message: "This page is not cross-origin isolated, so it cannot share memory with its workers. "
    + "Open it from playgrad's own server, at http://localhost or over https.",
  line: null,
  op: null,
};

/** The second half of a reset, once Python is at rest. */
function forget() {
  resetWanted.value = false;
  client.post(Request.RESET);
  store.runState.value = "idle";
  store.intent.value = null;
}

/** @param {{paused: boolean, inLab?: boolean}} how */
function launch({ paused, inLab }) {
  store.queuedRun.value = null;
  store.clearRun();
  store.notice.value = "";
  store.transcript.clear();
  store.transcriptVersion.value += 1;
  store.executed.value = { exampleId: store.exampleId.value, source: store.source.value };
  store.hasModel.value = false;
  store.runState.value = "running";
  store.intent.value = paused ? "step" : "run";
  const device = store.deviceChoice.value;
  const options = { device, paused, ...(inLab ? beginLabRun() : {}) };
  client.post(Request.RUN, { source: store.source.value, options });
  if (paused) client.post(Request.STEP);
}

/** Run the code; what runs is stopped first, and a starting engine is waited for. */
export function run() {
  begin({ paused: false });
}

/** Run the code as the Lab's settings have it. */
export function runInLab() {
  begin({ paused: false, inLab: true });
}

/** Measure the next step of the run in the Lab; a run that holds makes one. */
export function traceStep() {
  client.post(Request.TRACE);
  if (store.runState.value === "paused") step();
}

/** @param {{paused: boolean, inLab?: boolean}} how `paused`: hold before the first step */
function begin(how) {
  batch(() => {
    store.error.value = null;
    store.queuedRun.value = how;
    if (store.active.value) interrupt("stop");
    if (store.engine.value === "broken" && globalThis.crossOriginIsolated) {
      store.runState.value = "idle";
      store.engine.value = "starting";
    }
  });
}

export function pause() {
  store.intent.value = "pause";
  client.post(Request.PAUSE);
}

export function resume() {
  store.intent.value = "resume";
  client.post(Request.RESUME);
}

/** Train one batch: of the paused run, else of a new one. */
export function step() {
  if (store.runState.value !== "paused") return begin({ paused: true });
  store.intent.value = "step";
  client.post(Request.STEP);
}

export function stop() {
  store.queuedRun.value = null;
  if (store.active.value) interrupt("stop");
}

/** @param {"stop" | "reset"} why */
function interrupt(why) {
  store.intent.value = why;
  client.stop(() => batch(() => {
    store.notice.value = "Python did not stop by itself, so it was started afresh.";
    store.hasModel.value = false;
    store.intent.value = null;
    store.runState.value = "stopped";
    store.engine.value = "starting";
    labRunEnded("stopped");
  }));
}

/** Stop, and forget curves and weights; the code stays. */
export function reset() {
  batch(() => {
    store.queuedRun.value = null;
    store.clearRun();
    store.clearGraph();
    store.hasModel.value = false;
    store.notice.value = "";
    store.transcript.clear();
    store.transcriptVersion.value += 1;
    resetWanted.value = true;
    if (store.active.value) interrupt("reset");
  });
}

/**
 * Which class a drawing belongs to, by the model as it is now.
 * @param {Float32Array} pixels 784 of them, 0 to 1, row by row
 * @returns {Promise<{probabilities: number[], label: number}>}
 * @throws {EngineFailure}
 */
export async function predict(pixels) {
  const rounded = Array.from(pixels, (value) => Math.round(value * 1000) / 1000);
  const { probabilities, label } = await client.request(Request.PREDICT, { pixels: rounded });
  return { probabilities, label };
}

/**
 * Where each operation of the step that was trained last runs, and why.
 * @returns {Promise<import("./types.js").Placement>}
 * @throws {EngineFailure}
 */
export async function placement() {
  const { placement: found } = await client.request(Request.PLACEMENT);
  return found;
}

/** @param {"safetensors" | "npz"} format @returns {Promise<{filename: string, bytes: Uint8Array}>} */
export async function exportWeights(format) {
  const { filename, bytes } = await told(client.request(Request.EXPORT, { format }));
  return { filename, bytes };
}

/** @param {File} file @returns {Promise<string[]>} names of the variables that were set */
export async function importWeights(file) {
  const { names } = await told(sendWeights(file));
  return names;
}

/** @param {File} file @returns {Promise<import("./engine-client.js").EngineEvent>} */
async function sendWeights(file) {
  const most = MOST_TIMES * 4 * (store.fit.value?.parameters ?? 0) + LEAST_LIMIT;
  if (file.size > most) {
    throw fileProblem(`${file.name} has ${format.bytes(file.size)}, many times as much as all weights of this network. `
      + "Choose a file that was saved from a network with the same layers.");
  }
  /** @type {ArrayBuffer} */
  let content;
  try {
    content = await file.arrayBuffer();
  } catch (problem) {
    throw fileProblem(`${file.name} could not be read: ${/** @type {Error} */ (problem).message} Choose it again.`);
  }
  return client.request(Request.IMPORT, { name: file.name }, new Uint8Array(content));
}

/** @param {string} message */
const fileProblem = (message) =>
  new EngineFailure({ type: "CheckpointError", message, line: null, op: null });

/**
 * Show a failure in the error panel too, and pass it on.
 * @template T
 * @param {Promise<T>} reply
 * @returns {Promise<T>}
 */
async function told(reply) {
  try {
    const value = await reply;
    store.error.value = null;
    return value;
  } catch (failure) {
    if (failure instanceof EngineFailure) store.error.value = failure.info;
    throw failure;
  }
}
