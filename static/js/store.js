/**
 * The state of the page, as signals. Components read it; `engine-events.js` and the functions in
 * `actions.js` change it.
 */

import { computed, signal } from "../vendor/preact.js";
import { Curves } from "./curves.js";
import { Transcript } from "./transcript.js";

/** @import * as M from "../engine/messages.js" */
/** @import * as T from "./types.js" */

/** @typedef {"loading" | "ready" | Exclude<M.RunState, "idle">} Status */
/** @typedef {"run" | "pause" | "resume" | "step" | "stop" | "reset"} Intent */
/**
 * @typedef {{paused: boolean, inLab?: boolean, resumed?: boolean}} Launch
 *   `paused`: pause before the first step; `resumed`: go on from the kept weights
 */

// The engine

/** Whether the Python worker takes requests ("up"), will soon, or could not be started. */
export const engine = signal(/** @type {"starting" | "up" | "broken"} */ ("starting"));
/** The stage of a starting engine, in words. */
export const bootStage = signal("");
/** How much of a starting engine has arrived, in bytes; null if that is not worth a word. */
export const bootProgress = signal(/** @type {{received: number, total: number} | null} */ (null));
/** What does not arrive, in sentences, by what it is a part of. */
export const loadProblems = signal(/** @type {Partial<Record<T.Loaded, string>>} */ ({}));
/** Processors whose Python is starting, which takes seconds: "cpu:1", … */
export const startingDevices = signal(/** @type {string[]} */ ([]));
export const versions = signal(/** @type {Record<string, string>} */ ({}));
/** The state of the last run, as Python reported it. */
export const runState = signal(/** @type {M.RunState} */ ("idle"));
/** The user's last command, until the engine confirms it. */
export const intent = signal(/** @type {Intent | null} */ (null));
/** A run that waits for the engine, or for the end of the run before it. */
export const queuedRun = signal(
  /** @type {Launch | null} */ (null),
);
/** Whether a reset waits for the end of the run. */
export const resetPending = signal(false);
/** A sentence about something unusual, such as a restart of the engine. */
export const notice = signal("");
/** A button beside the notice. */
export const noticeAction = signal(/** @type {{label: string, act: () => void} | null} */ (null));
export const error = signal(/** @type {M.ErrorInfo | null} */ (null));

export const status = computed(/** @returns {Status} */ () => {
  if (engine.value === "broken") return "error";
  if (engine.value === "starting") return "loading";
  return runState.value === "idle" ? "ready" : runState.value;
});
/** Whether a program runs, paused or not. */
export const active = computed(() => runState.value === "running" || runState.value === "paused");

// The device

export const gpu = signal(/** @type {T.GpuState} */ ({ known: false, info: null, problem: null, isAsked: false }));
/** The kernels that the GPU runs; null until Python has reported them. */
export const tuning = signal(/** @type {M.Tuning | null} */ (null));
export const deviceChoice = signal(/** @type {"auto" | "gpu" | "cpu"} */ ("auto"));

// The run

export const fit = signal(/** @type {M.Fit | null} */ (null));
/** @type {T.Progress} */
const NO_PROGRESS = {
  epoch: 0, step: 0, loss: null, accuracy: null, testLoss: null, testAccuracy: null,
  stepsPerSecond: null, seconds: 0, eta: null,
};
export const progress = signal(NO_PROGRESS);
export const epochs = signal(/** @type {T.EpochRow[]} */ ([]));
/** Not a signal, because it grows in place: `curvesVersion` counts the changes. */
export const curves = new Curves();
export const curvesVersion = signal(0);
export const transcript = new Transcript();
export const transcriptVersion = signal(0);
/** Whether Python holds a model with weights to answer questions about. */
export const liveModel = signal(false);
/** The weights of the last training, which outlive Python and the page. */
export const kept = signal(/** @type {T.Kept | null} */ (null));
/** Whether there is a model to predict with, export from and import into. */
export const hasModel = computed(() => liveModel.value || (kept.value !== null && !active.value));
/** The kept weights, if training can go on from them. */
export const resumable = computed(() =>
  kept.value && !kept.value.finished && !active.value ? kept.value : null);

// The graph

export const graph = signal(/** @type {M.Graph | null} */ (null));
/** Name of the selected node. */
export const selectedNode = signal(/** @type {string | null} */ (null));

/** The meaning of the colours in the graph. */
export const graphColours = signal(/** @type {"phase" | "device"} */ ("phase"));

// The Lab

/** The open view. */
export const view = signal(/** @type {"training" | "lab"} */ ("training"));
export const labChoices = signal(/** @type {M.LabChoices | null} */ (null));
export const labSettings = signal(/** @type {T.LabSettings} */ ({
  strategy: "single", devices: 2, micro_batches: 4, schedule: "1f1b", chunks: 2, collective: "auto",
  staleness: null, every: 8, delays: [], steps: 200,
}));
/** Oldest first. */
export const labRuns = signal(/** @type {T.LabRun[]} */ ([]));
/** Id of the run whose timeline is shown; null for the latest. */
export const labShown = signal(/** @type {number | null} */ (null));

// The editor

export const examples = signal(/** @type {T.Example[]} */ ([]));
export const exampleId = signal("");
export const source = signal("");
/** The visitor's changes: the code of each example that differs from the original, by its id. */
export const codes = signal(/** @type {Record<string, string>} */ ({}));
/** The program of the last run, to which the lines of errors and nodes refer. */
export const executed = signal(/** @type {T.Program} */ ({ exampleId: "", source: "", began: 0 }));
/** The options of the last run, in addition to those that the page has. */
export const runOptions = signal(/** @type {{devices?: number, lab?: M.LabOptions}} */ ({}));
/** The line that a node or an error asked to show; a new object for each request. */
export const revealedLine = signal(/** @type {{line: number} | null} */ (null));

export const example = computed(() => examples.value.find(({ id }) => id === exampleId.value));
export const edited = computed(() => {
  const original = example.value?.source;
  return original !== undefined && source.value !== original;
});
/** Whether the editor shows the example that ran last, so that lines of that run apply. */
export const linesApply = computed(() => executed.value.exampleId === exampleId.value);

// What is saved

/** What the browser could not save, and what to do; null while everything is saved. */
export const storageProblem = signal(/** @type {T.StorageProblem | null} */ (null));
/** Earlier sessions, latest first. */
export const earlierWork = signal(/** @type {T.SessionSummary[]} */ ([]));

/** Show a line of the code in the editor, if it is the code that ran. @param {number | null} line */
export function revealLine(line) {
  if (line !== null && linesApply.value) revealedLine.value = { line };
}

export function clearGraph() {
  graph.value = null;
  selectedNode.value = null;
}

/** Show a sentence in place of the last one. @param {string} text @param {string} [label] @param {() => void} [act] */
export function note(text, label, act) {
  notice.value = text;
  noticeAction.value = label && act ? { label, act } : null;
}

/** Forget the numbers of the last run. */
export function clearRun() {
  fit.value = null;
  progress.value = NO_PROGRESS;
  epochs.value = [];
  curves.clear();
  curvesVersion.value += 1;
  error.value = null;
}

/** Note what keeps a part of the page from being loaded. @param {T.Loaded} part @param {string} problem "" for none */
export function reportLoading(part, problem) {
  if ((loadProblems.value[part] ?? "") === problem) return;
  loadProblems.value = { ...loadProblems.value, [part]: problem };
}
