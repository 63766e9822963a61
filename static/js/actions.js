/** The user's commands. Each changes the store at once, so that the page responds at once. */

import { batch, effect, untracked } from "../vendor/preact.js";
import { SCRIPTS } from "../engine/connect.js";
import { LoadError, hurry } from "../engine/downloads.js";
import { missingFeature } from "./boot-features.js";
import { keepStarting, startAgain } from "./boot-retry.js";
import { beginBranch } from "./branches.js";
import { clearFindings } from "./doctor.js";
import { isEmbedded } from "./embedded.js";
import { EngineClient, EngineFailure } from "./engine-client.js";
import { receive } from "./engine-events.js";
import { said } from "./engine-words.js";
import { dataNames } from "./export-names.js";
import * as format from "./format.js";
import { labRecorder } from "./lab-runs.js";
import { t } from "./locale.js";
import { refetchModule } from "./refetch.js";
import { rememberRun } from "./session-parts.js";
import * as store from "./store.js";

/**
 * @import {
 *   Answers, AttentionView, LayersQuestion, LayersView, NextTokensView, NodeMatches, NodeView, Placement, ProjectionView, Question, SamplesView, TaskView, ExportFormat
 * } from "../engine/messages.js"
 */

/**
 * The largest weights file that is read, in bytes: this, or a multiple of the size of the weights in
 * float32, whichever is more. In a smaller file, the error names what does not match.
 */
const LEAST_LIMIT = 64 << 20;
const LIMIT_FACTOR = 4;

/** How long Python has been up, or an example open, before its data sets are fetched. */
const DATA_MS = 1000;

/** How long a network writes text at a time, while it trains and else. */
const WRITING_SECONDS = 0.1;
const WRITING_SECONDS_AT_REST = 0.8;

const client = new EngineClient(receive);

/** Start the engine, restart it whenever it breaks, and begin what waits for it. */
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
 * and who writes another program at once needs none of them.
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

/** Load again, without waiting, what did not arrive. */
export function loadNow() {
  hurry.dispatchEvent(new Event("now"));
  if (store.engine.value === "broken") startAgain();
  if (store.engine.value !== "starting" || !store.loadProblems.value.python) return;
  store.reportLoading("python", "");
  client.start();
}

/** Look for a GPU again, and say what was found. */
export async function lookForGpu() {
  store.gpu.value = { known: false, info: null, problem: null, isAsked: true };
  await refetchModule(SCRIPTS.gpu);
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
  store.clearTask();
  store.earlierSeconds.value = 0;
  store.runState.value = "running";
  store.intent.value = paused ? "step" : "run";
  if (!branch) store.runOptions.value = kept?.options ?? (inLab ? labRecorder.begin() : {});
  const options = { device: store.deviceChoice.value, paused, doctor: true, ...store.runOptions.value };
  const { source } = store.executed.value;
  const checkpoint = kept ?? branch;
  if (checkpoint) client.post({ kind: "run", source, options: { ...options, resume: true } }, checkpoint.bytes);
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
  client.stop(() => batch(() => {
    restart();
    store.intent.value = null;
    store.runState.value = "stopped";
    labRecorder.runEnded("stopped");
  }));
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
 * @returns {Promise<Answers["complete"]["completions"]>}
 */
export async function completeNames(text) {
  const { completions } = await client.ask({ kind: "complete", text });
  return completions;
}

/** Stop, and clear curves and weights; the code stays. Weights that were kept can be brought back. */
export function reset() {
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

/**
 * Ask about the model. If Python has none, because it was restarted or its program trained nothing,
 * it takes the kept weights first.
 * @template {Question} Q
 * @param {Q} question
 * @param {Uint8Array} [payload] of questions about weights: the checkpoint that is looked at
 * @returns {Promise<Answers[Q["kind"]]>}
 * @throws {EngineFailure}
 */
async function ask(question, payload) {
  const kept = store.kept.value;
  if (kept && !store.liveModel.value && !store.active.value) {
    store.liveModel.value = true; // the requests are served in order
    client.ask({ kind: "restore" }, kept.bytes).catch(() => (store.liveModel.value = false));
  }
  return await client.ask(question, payload);
}

/**
 * Classify a drawing with the current weights.
 * @param {Float32Array} pixels 784 of them, 0 to 1, row by row
 * @returns {Promise<Answers["predict"]>}
 * @throws {EngineFailure}
 */
export async function predict(pixels) {
  const rounded = Array.from(pixels, (value) => Math.round(value * 1000) / 1000);
  return await ask({ kind: "predict", pixels: rounded }, store.past.value?.bytes);
}

/**
 * What the model does with its data.
 * @param {number} known the version of the data that the page has
 * @returns {Promise<TaskView>}
 * @throws {EngineFailure}
 */
export async function taskView(known) {
  const { prompt, temperature, seed } = store.sample.value;
  const seconds = store.runState.value === "running" ? WRITING_SECONDS : WRITING_SECONDS_AT_REST;
  const question = { kind: /** @type {const} */ ("task_view"), known, sample: { prompt, temperature, seed, seconds } };
  const answer = await ask(question, store.past.value?.bytes);
  return answer.task;
}

/**
 * The histograms of the layers that were recorded; from now on some more will be.
 * @returns {Promise<Answers["histograms"]["histograms"]>}
 * @throws {EngineFailure}
 */
export async function histograms() {
  return (await ask({ kind: "histograms" })).histograms;
}

/**
 * The layers of the model, and one of them for one sample.
 * @param {LayersQuestion} question
 * @returns {Promise<LayersView>}
 * @throws {EngineFailure}
 */
export async function inspectLayers(question) {
  const answer = await ask({ kind: "inspect_layers", ...question }, store.past.value?.bytes);
  return answer.layers;
}

/**
 * The model's predictions for single samples.
 * @param {number} known the version of the samples that the page has
 * @returns {Promise<SamplesView>}
 * @throws {EngineFailure}
 */
export async function samplesView(known) {
  const answer = await ask({ kind: "samples", known }, store.past.value?.bytes);
  return answer.samples;
}

/**
 * The samples by a layer's principal components.
 * @param {number} known the version of the samples that the page has
 * @param {string} layer "" for the last hidden one
 * @param {number} dimensions how many components, at most
 * @returns {Promise<ProjectionView>}
 * @throws {EngineFailure}
 */
export async function projectionView(known, layer, dimensions) {
  const answer = await ask({ kind: "projection", known, layer, dimensions }, store.past.value?.bytes);
  return answer.projection;
}

/**
 * The weights of attention for one sample.
 * @param {number} sample
 * @param {string} layer "" for the first that has attention
 * @returns {Promise<AttentionView>}
 * @throws {EngineFailure}
 */
export async function attentionView(sample, layer) {
  const answer = await ask({ kind: "attention", sample, layer }, store.past.value?.bytes);
  return answer.attention;
}

/**
 * The tokens that the model expects after each position of a text.
 * @param {{text: string | null, sample: number, temperature: number}} question `text`: null for that of the sample
 * @returns {Promise<NextTokensView>}
 * @throws {EngineFailure}
 */
export async function nextTokensView(question) {
  const answer = await ask({ kind: "next_tokens", ...question }, store.past.value?.bytes);
  return answer.next_tokens;
}

/**
 * The value of a node of the graph, or the gradient of the loss with respect to it.
 * @param {{name: string, output: number, part: "value" | "gradient", sample: number | null}} question
 * @returns {Promise<NodeView>}
 * @throws {EngineFailure}
 */
export async function nodeView(question) {
  const answer = await client.ask({ kind: "node_view", ...question }); // kept weights have no graph
  return answer.node;
}

/**
 * The nodes of the graph for which a query holds.
 * @param {string} query
 * @returns {Promise<NodeMatches>}
 * @throws {EngineFailure}
 */
export async function findNodes(query) {
  const answer = await client.ask({ kind: "node_find", query });
  return answer.nodes;
}

/**
 * The kernel that computes a node of the graph.
 * @param {string} name
 * @returns {Promise<Answers["node_kernel"]["node_kernel"]>}
 * @throws {EngineFailure}
 */
export async function nodeKernel(name) {
  const answer = await client.ask({ kind: "node_kernel", name });
  return answer.node_kernel;
}

/**
 * Open the bench of a node's kernels, or try `wgsl` on it in place of number `kernel`.
 * @param {string} name
 * @param {"open" | "check" | "time" | "close"} action
 * @param {string} [wgsl] @param {number} [kernel]
 * @returns {Promise<Answers["kernel_bench"]["bench"]>}
 * @throws {EngineFailure}
 */
export async function kernelBench(name, action, wgsl = "", kernel = 0) {
  const answer = await client.ask({ kind: "kernel_bench", name, action, kernel }, new TextEncoder().encode(wgsl));
  return answer.bench;
}

/**
 * The time that a node of the graph takes by itself.
 * @param {string} name
 * @returns {Promise<Answers["node_time"]["node_time"]>}
 * @throws {EngineFailure}
 */
export async function nodeTime(name) {
  const answer = await client.ask({ kind: "node_time", name });
  return answer.node_time;
}

/**
 * The device of each operation of the last training step, with the reason.
 * @returns {Promise<Placement>}
 * @throws {EngineFailure}
 */
export async function placement() {
  const answer = await ask({ kind: "placement" });
  return answer.placement;
}

/**
 * Measure a training step, which changes nothing.
 * @param {boolean} apart with a kernel for each operation
 * @returns {Promise<Answers["execution"]["execution"]>}
 * @throws {EngineFailure}
 */
export async function measureStep(apart) {
  return (await ask({ kind: "execution", apart })).execution;
}

/**
 * Run a training step on copies of the variables, operation by operation.
 * @returns {Promise<Answers["operations"]["operations"]>}
 * @throws {EngineFailure}
 */
export async function stepOperations() {
  return (await ask({ kind: "operations" })).operations;
}

/** @param {ExportFormat} format @returns {Promise<Answers["export"]>} @throws {EngineFailure} */
export async function exportModel(format) {
  if (format === "onnx") await obtainOnnx();
  return await ask({ kind: "export", format, names: dataNames() }, store.past.value?.bytes);
}

/**
 * Load weights into the model.
 * @param {File} file
 * @param {Record<string, string>} [matching] the tensor of each slot, for a file with other names
 * @returns {Promise<Answers["import"]>} the variables that were set, or a matching for such a file
 */
export async function importWeights(file, matching) {
  const limit = LIMIT_FACTOR * 4 * (store.fit.value?.parameters ?? 0) + LEAST_LIMIT;
  if (file.size > limit) {
    throw fileProblem(t().weights.tooLarge(file.name, format.bytes(file.size)));
  }
  /** @type {ArrayBuffer} */
  let content;
  try {
    content = await file.arrayBuffer();
  } catch (problem) {
    throw fileProblem(t().weights.unreadable(file.name, /** @type {Error} */ (problem).message));
  }
  lookAt(null); // weights are loaded into the model as it is
  return await ask({ kind: "import", name: file.name, matching }, new Uint8Array(content));
}

/**
 * What a file of a model has in it. Nothing changes.
 * @param {string} name whose ending is that of the format
 * @param {Uint8Array} bytes
 * @returns {Promise<import("../engine/messages.js").ModelFile>}
 * @throws {EngineFailure} it is damaged, or has parts that the library lacks
 */
export async function modelFile(name, bytes) {
  await engineUp();
  if (name.endsWith(".onnx")) await obtainOnnx();
  return (await client.ask({ kind: "model_file", name }, bytes)).model;
}

/** Wait until Python takes requests. @returns {Promise<void>} */
function engineUp() {
  return new Promise((resolve, reject) => {
    const dispose = effect(() => {
      const state = store.engine.value;
      if (state === "starting") return;
      queueMicrotask(() => dispose()); // it may not have been returned yet
      if (state === "up") resolve();
      else reject(fileProblem(t().status.notStarted));
    });
  });
}

/** Fetch the part of the library for ONNX files. */
async function obtainOnnx() {
  try {
    await client.expectOnnx();
  } catch (failure) {
    throw failure instanceof LoadError ? fileProblem(t().errors.noOnnx(said(failure.sentence))) : failure;
  }
}

/** @param {string} message */
const fileProblem = (message) =>
  new EngineFailure({ type: "CheckpointError", message, line: null, op: null });
