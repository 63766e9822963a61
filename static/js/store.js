/**
 * All that the page knows, as signals. Components read it; `engine-events.js` and the functions
 * in `actions.js` change it.
 */

import { computed, signal } from "../vendor/preact.js";
import { Curves } from "./curves.js";
import { Transcript } from "./transcript.js";

/** @import * as T from "./types.js" */

/** @typedef {"loading"|"ready"|"running"|"paused"|"stopped"|"done"|"error"} Status */
/** @typedef {"idle"|"running"|"paused"|"stopped"|"done"|"error"} RunState */
/** @typedef {"run"|"pause"|"resume"|"step"|"stop"|"reset"} Intent */

// The engine

/** Whether the Python worker can take requests: it starts, it is up, or it cannot start. */
export const engine = signal(/** @type {"starting"|"up"|"broken"} */ ("starting"));
/** What the starting engine is at. */
export const bootStage = signal("");
/** Processors whose Python is being started, which takes seconds: "cpu:1", … */
export const startingDevices = signal(/** @type {string[]} */ ([]));
export const versions = signal(/** @type {Record<string, string>} */ ({}));
/** What the last run is at, as Python last said. */
export const runState = signal(/** @type {RunState} */ ("idle"));
/** What the user asked for and the engine has not confirmed yet. */
export const intent = signal(/** @type {Intent | null} */ (null));
/** A run asked for while the engine was starting. */
export const queuedRun = signal(
  /** @type {{paused: boolean, inLab?: boolean} | null} */ (null),
);
/** A sentence about something unusual, such as a restart of the engine. */
export const notice = signal("");
export const error = signal(/** @type {T.ErrorInfo | null} */ (null));

export const status = computed(/** @returns {Status} */ () => {
  if (engine.value === "broken") return "error";
  if (engine.value === "starting") return "loading";
  return runState.value === "idle" ? "ready" : runState.value;
});
/** Whether user code is being executed, training or held at a pause. */
export const active = computed(() => runState.value === "running" || runState.value === "paused");

// The device

export const gpu = signal(/** @type {T.GpuState} */ ({ known: false, info: null, problem: null }));
/** Which kernels the GPU runs; null until Python has said. */
export const tuning = signal(/** @type {T.Tuning | null} */ (null));
export const deviceChoice = signal(/** @type {"auto"|"gpu"|"cpu"} */ ("auto"));

// The run

export const fit = signal(/** @type {T.Fit | null} */ (null));
/** @type {T.Progress} */
const NO_PROGRESS = {
  epoch: 0, step: 0, loss: null, accuracy: null, testLoss: null, testAccuracy: null,
  stepsPerSecond: null, seconds: 0, eta: null,
};
export const progress = signal(NO_PROGRESS);
export const epochs = signal(/** @type {T.EpochRow[]} */ ([]));
/** Not signals, for they grow in place: `curvesVersion` counts their changes. */
export const curves = new Curves();
export const curvesVersion = signal(0);
export const transcript = new Transcript();
export const transcriptVersion = signal(0);
/** Whether Python has a model that can be exported, imported into and asked. */
export const hasModel = signal(false);

// The graph

export const graph = signal(/** @type {T.Graph | null} */ (null));
/** Name of the node that is looked at. */
export const selectedNode = signal(/** @type {string | null} */ (null));

/** What the colours of the graph tell apart. */
export const graphColours = signal(/** @type {"phase"|"device"} */ ("phase"));

// The Lab

/** Which of the two views is open. */
export const view = signal(/** @type {"training"|"lab"} */ ("training"));
export const labChoices = signal(/** @type {T.LabChoices | null} */ (null));
export const labSettings = signal(/** @type {T.LabSettings} */ ({
  strategy: "single", devices: 2, micro_batches: 4, schedule: "1f1b", chunks: 2, collective: "auto",
  staleness: null, every: 8, delays: [], steps: 200,
}));
/** The oldest first. */
export const labRuns = signal(/** @type {T.LabRun[]} */ ([]));
/** Id of the run whose timeline is looked at; null for the latest. */
export const labShown = signal(/** @type {number | null} */ (null));

// The editor

export const examples = signal(/** @type {T.Example[]} */ ([]));
export const exampleId = signal("");
export const source = signal("");
/** What the last run executed: lines in errors and nodes refer to it. */
export const executed = signal({ exampleId: "", source: "" });
/** Line to look at, from a node or an error; `serial` makes each request a new one. */
export const revealedLine = signal(/** @type {{line: number, serial: number} | null} */ (null));

export const example = computed(() => examples.value.find(({ id }) => id === exampleId.value));
export const edited = computed(() => {
  const original = example.value?.source;
  return original !== undefined && source.value !== original;
});
/** Whether lines of the last run mean anything in the code shown. */
export const linesApply = computed(() => executed.value.exampleId === exampleId.value);

export function clearGraph() {
  graph.value = null;
  selectedNode.value = null;
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
