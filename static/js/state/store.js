/**
 * The state of the page, as signals. Components read it; `engine-events.js` and the functions in
 * `actions.js` change it.
 */

import { computed, signal } from "../../vendor/preact.js";
import { USUAL_LAB } from "./bounds.js";
import { Curves } from "../pictures/curves.js";
import { divergenceOf } from "../training/divergence.js";
import { Transcript } from "../output/transcript.js";

/** @import * as M from "../../engine/messages.js" */
/** @import * as T from "./types.js" */

/** @typedef {"loading" | "ready" | Exclude<M.RunState, "idle">} Status */
/** @typedef {"run" | "pause" | "resume" | "step" | "stop" | "reset"} Intent */
/**
 * @typedef {{paused: boolean, inLab?: boolean, resumed?: boolean, branch?: T.Checkpoint}} Launch
 *   `paused`: pause before the first step; `resumed`: continue from the kept weights; `branch`: begin
 *   with the program of the editor at this checkpoint of the run that is shown
 */

// The page

/** The panel of the open tab. */
export const view = signal("training");
/** The side that a phone shows: the network, or the panels. */
export const side = signal(/** @type {"build" | "panels"} */ ("build"));
/** The main pictures that the visitor has chosen in place of the program's own, by the id of the example. */
export const pictures = signal(/** @type {Record<string, string>} */ ({}));
/** Whether the output is unfolded; null while that follows from there being any. */
export const outputOpen = signal(/** @type {boolean | null} */ (null));

// The engine

/** Whether the Python worker takes requests ("up"), will soon, or could not be started. */
export const engine = signal(/** @type {"starting" | "up" | "broken"} */ ("starting"));
/** The stage of a starting engine. */
export const bootStage = signal(/** @type {"python" | "library"} */ ("python"));
/** How much of a starting engine has arrived, in bytes; null if that is not worth a word. The total may be 0: unknown. */
export const bootProgress = signal(
  /** @type {import("../../engine/load-report.js").LoadState["progress"]} */ (null),
);
/** Problems of loading, in sentences, by the part that does not arrive. */
export const loadProblems = signal(/** @type {Partial<Record<T.Loaded, string>>} */ ({}));
/** Files of data sets that have arrived, by path. */
export const dataFiles = signal(/** @type {string[]} */ ([]));
/** Processors whose Python is starting, which takes seconds: "cpu:1", … */
export const startingDevices = signal(/** @type {string[]} */ ([]));
/** How Python was started last: from an image of its memory, and on a quick line. */
export const pythonStart = signal({ isRestored: true, isQuick: true });
export const versions = signal(/** @type {Record<string, string>} */ ({}));
/** The state of the last run, as Python reported it. */
export const runState = signal(/** @type {M.RunState} */ ("idle"));
/** The user's last command, until the engine confirms it. */
export const intent = signal(/** @type {Intent | null} */ (null));
/** A run that waits for the engine, or for the end of the run before it. */
export const queuedRun = signal(/** @type {Launch | null} */ (null));
/** Whether a reset waits for the end of the run. */
export const resetPending = signal(false);
/** A sentence about something unusual, such as a restart of the engine. */
export const notice = signal("");
/** A button beside the notice. */
export const noticeAction = signal(/** @type {{label: string, act: () => void} | null} */ (null));
/** The data set that the program waits for, with the bytes that have arrived. */
export const awaitedData = signal(
  /** @type {import("../../engine/data-store.js").Awaited | null} */ (null),
);
export const error = signal(/** @type {M.ErrorInfo | null} */ (null));

export const status = computed(
  /** @returns {Status} */ () => {
    if (engine.value === "broken") return "error";
    if (engine.value === "starting") return "loading";
    return runState.value === "idle" ? "ready" : runState.value;
  },
);
/** Whether a program runs, paused or not. */
export const active = computed(() => runState.value === "running" || runState.value === "paused");

// The device

export const gpu = signal(
  /** @type {T.GpuState} */ ({ known: false, info: null, problem: null, isAsked: false }),
);
/** The kernels that the GPU runs; null until Python has reported them. */
export const tuning = signal(/** @type {M.Tuning | null} */ (null));
/** The length of a step by hand; Python knows nothing of operations, of which the page shows a copy of a step. */
export const stepUnit = signal(
  /** @type {import("../../engine/messages.js").StepUnit | "operation"} */ ("batch"),
);
/** How often a step of one operation was asked for. */
export const operationSteps = signal(0);
export const deviceChoice = signal("auto");
/** Whether "auto" is the processor because the GPU is a software adapter, as `choose_device` in Python has it. */
export const avoidsSoftware = computed(
  () => deviceChoice.value === "auto" && Boolean(gpu.value.info?.is_software),
);

// The run

export const fit = signal(/** @type {M.Fit | null} */ (null));
/** @type {T.Progress} */
const NO_PROGRESS = {
  epoch: 0,
  step: 0,
  loss: null,
  accuracy: null,
  testLoss: null,
  testAccuracy: null,
  stepsPerSecond: null,
  seconds: 0,
  eta: null,
};
export const progress = signal(NO_PROGRESS);
/** The seconds of the fits that the run has completed before the present one. */
export const earlierSeconds = signal(0);
export const epochs = signal(/** @type {T.EpochRow[]} */ ([]));
/** Not a signal, because it grows in place: `curvesVersion` counts the changes. */
export const curves = new Curves();
export const curvesVersion = signal(0);
/** The settings that were changed while training. */
export const settingChanges = signal(/** @type {M.SettingChange[]} */ ([]));
/** Checkpoints along the curve, the earliest first. */
export const checkpoints = signal(/** @type {T.Checkpoint[]} */ ([]));
/** The one that the visitor looks back at: the model answers as it was then. Null at the end of the curve. */
export const past = signal(/** @type {T.Checkpoint | null} */ (null));
/** What the last run branched off from, if it did. */
export const branch = signal(/** @type {T.Branch | null} */ (null));
/** Losses at a few steps of the last training. */
export const landmarks = signal(/** @type {import("../sharing/landmarks.js").Landmarks} */ ([]));
/** What became of the loss, if the run ended far above where it began. */
export const divergence = computed(() => {
  void curvesVersion.value;
  return runState.value === "done" || runState.value === "stopped"
    ? divergenceOf(curves.series.loss, curves.series.trendLoss, progress.value.loss)
    : null;
});
/** Whether the restored run was under way when the page was left. */
export const wasLeft = signal(false);
/** Whether Python has the names of a program, for the prompt. */
export const hasNamespace = signal(false);
/** Whether Python executes code of the prompt, or will. */
export const promptBusy = signal(false);
export const transcript = new Transcript();
export const transcriptVersion = signal(0);
/** Whether Python holds a model with weights to answer questions about. */
export const liveModel = signal(false);
/** Whether Python holds a model that its program has built or loaded and not trained. */
export const builtModel = signal(false);
/** Whether there is a model to look inside. */
export const canInspect = computed(() => liveModel.value || builtModel.value);
/** The weights of the last training, which outlive Python and the page. */
export const kept = signal(/** @type {T.Kept | null} */ (null));
/** Those weights, if they are of the open example. */
const keptHere = computed(() =>
  kept.value?.program.exampleId === exampleId.value ? kept.value : null,
);
/** Whether there is a model to predict with, export from and import into. */
export const hasModel = computed(
  () => liveModel.value || (keptHere.value !== null && !active.value),
);
/** The kept weights, if training can continue from them. */
export const resumable = computed(() =>
  keptHere.value && !keptHere.value.finished && !active.value ? keptHere.value : null,
);

/** The smaller version of the network that answers in its place where it is tried out; null for none. */
export const shrunk = signal(/** @type {M.ShrunkPoint | null} */ (null));
/** What the model does with its data, as Python showed it last; null before it was asked. */
export const task = signal(/** @type {M.TaskView | null} */ (null));
/**
 * Choices for the text that a network writes: its prompt, null for one `from` the data; `temperature` and `seed`.
 */
export const sample = signal({
  prompt: /** @type {string | null} */ (null),
  from: "",
  temperature: 0.5,
  seed: 0,
});
/** Why that cannot be shown, in a sentence. */
export const taskProblem = signal("");
/** The game that the program's player learns by playing itself, once Python has it. */
export const game = signal(/** @type {M.Game | null} */ (null));

// Earlier runs

/** Oldest first. */
export const runs = signal(/** @type {import("../panels/runs/runs.js").Run[]} */ ([]));

// The graph

export const graph = signal(/** @type {M.Graph | null} */ (null));
/** When the run began that sent the graph. */
export const graphBegan = signal(0);
/** Name of the selected node. */
export const selectedNode = signal(/** @type {string | null} */ (null));

/** The meaning of the colours in the graph. */
export const graphColours = signal(
  /** @type {"phase" | "device" | "time" | "magnitude"} */ ("phase"),
);

// The Lab

export const labChoices = signal(/** @type {M.LabChoices | null} */ (null));
export const labSettings = signal(USUAL_LAB);
/** Oldest first. */
export const labRuns = signal(/** @type {T.LabRun[]} */ ([]));
/** Id of the run whose timeline is shown; null for the latest. */
export const labShown = signal(/** @type {number | null} */ (null));

// The editor

export const examples = signal(/** @type {T.Example[]} */ ([]));
export const exampleId = signal("");
/** Whether the visitor chose a program since the page was opened. */
export const hasChosen = signal(false);
export const source = signal("");
/** The visitor's changes: the code of each example that differs from the original, by its id. */
export const codes = signal(/** @type {Record<string, string>} */ ({}));
/** The program of the last run, to which the lines of errors and nodes refer. */
export const executed = signal(/** @type {T.Program} */ ({ exampleId: "", source: "", began: 0 }));
/** The options of the last run, in addition to the page's. */
export const runOptions = signal(/** @type {{devices?: number, lab?: M.LabOptions}} */ ({}));
/** The line that a node or an error asked to show; a new object for each request. */
export const revealedLine = signal(/** @type {{line: number} | null} */ (null));

/** Whether code is its example's own, in one of the languages of the page. @param {T.Example | undefined} original @param {string} code */
export const isOriginal = (original, code) =>
  code === original?.source || Boolean(original?.versions?.includes(code));
/** Whether code is not that of its example. One that began with data of the visitor has no code of its own. @param {T.Example | undefined} original @param {string} code */
export const differs = (original, code) => Boolean(original?.source) && !isOriginal(original, code);

export const example = computed(() => examples.value.find(({ id }) => id === exampleId.value));
export const edited = computed(() => {
  return differs(example.value, source.value);
});
/** Whether the editor shows the example that ran last, so that lines of that run apply. */
export const linesApply = computed(() => executed.value.exampleId === exampleId.value);

/** The program that came with a link, until it is dismissed. */
export const shared = signal(/** @type {import("../sharing/link.js").Shared | null} */ (null));

/** Locked lines of the programs, by the id of the example. */
export const locks = signal(
  /** @type {Record<string, import("../sharing/locks.js").Locks>} */ ({}),
);

// What is saved

/** The problem of saving, and its remedy; null while everything is saved. */
export const storageProblem = signal(/** @type {T.StorageProblem | null} */ (null));
/** The saved session with which the page could not be opened, so that it started without it. */
export const unopened = signal(/** @type {string | null} */ (null));
/** The name of the project; empty for none. */
export const projectName = signal("");
/** What could not be done with a project, in sentences. */
export const projectProblem = signal("");

/** Show a line of the code in the editor, if it is the code that ran. @param {number | null} line */
export function revealLine(line) {
  if (line === null || !linesApply.value) return;
  side.value = "build"; // on a phone, where the code is
  revealedLine.value = { line };
}

export function clearGraph() {
  graph.value = null;
  selectedNode.value = null;
}

export function clearTask() {
  task.value = null;
  taskProblem.value = "";
}

/** Show a sentence in place of the last one. @param {string} text @param {string} [label] @param {() => void} [act] */
export function note(text, label, act) {
  notice.value = text;
  noticeAction.value = label && act ? { label, act } : null;
}

/** @param {NonNullable<typeof error.value>} report */
export function showError(report) {
  error.value = report;
  side.value = "build"; // on a phone, where it is shown
}

/** Forget the numbers of the last run. */
export function clearRun() {
  fit.value = null;
  progress.value = NO_PROGRESS;
  epochs.value = [];
  curves.clear();
  landmarks.value = [];
  settingChanges.value = [];
  checkpoints.value = [];
  past.value = null;
  curvesVersion.value += 1;
  error.value = null;
}

/**
 * Show the numbers of the run at the step where the curves end.
 * @param {number} step @param {number} perEpoch steps of an epoch; 0 if it is not known
 */
export function showNumbersAt(step, perEpoch) {
  const { loss, accuracy } = curves.series;
  const { testLoss = null, testAccuracy = null } = epochs.value.at(-1) ?? {};
  progress.value = {
    ...progress.value,
    step,
    epoch: perEpoch > 0 ? Math.ceil(step / perEpoch) : progress.value.epoch,
    loss: loss.at(-1) ?? null,
    accuracy: accuracy.at(-1) ?? null,
    testLoss,
    testAccuracy,
    eta: null,
  };
}

export function clearOutput() {
  transcript.clear();
  transcriptVersion.value += 1;
}

/** Forget the last run and the model that Python holds, but not the kept weights. */
export function clearResults() {
  clearRun();
  clearGraph();
  clearTask();
  clearOutput();
  game.value = null;
  liveModel.value = builtModel.value = false;
  hasNamespace.value = false;
}

/** Show nothing of the last run, as if there had been none. */
export function clearShown() {
  clearResults();
  outputOpen.value = null;
  earlierSeconds.value = 0;
  runState.value = "idle";
  executed.value = { exampleId: "", source: "", began: 0 };
}

/** Note why a part of the page cannot be loaded. @param {T.Loaded} part @param {string} problem "" for none */
export function reportLoading(part, problem) {
  if ((loadProblems.value[part] ?? "") === problem) return;
  loadProblems.value = { ...loadProblems.value, [part]: problem };
}
