/**
 * The parts of a session: how each is taken from the store, and put back. A part is saved by itself
 * when it has changed, so that a damaged or oversized one takes no other with it.
 */

import { batch } from "../../vendor/preact.js";
import { labRecorder } from "../panels/lab/lab-runs.js";
import { takeLabSettings, takenOptions } from "../panels/lab/lab-settings.js";
import * as store from "../state/store.js";

/**
 * @import { StoreName } from "./session-database.js"
 * @import { Shape } from "./session-shapes.js"
 *
 * @typedef {{store: StoreName, changes: () => unknown, capture: () => any,
 *            restore: (value: any) => boolean | void, began?: () => number}} Part
 *   `changes`: reads the signals that it depends on; `capture`: its value, null for none; `restore`: returns true if
 *   the value was corrected, and should be saved; `began`: when the run began to which the value belongs
 */

/** The version of the records. A record of another version is put aside. */
export const VERSION = 1;

/** Names of parts that are put aside, because they could not be read, begin with this. */
export const ASIDE = "aside:";

/** @type {Record<Exclude<Shape, "code">, Part>} */
export const PARTS = {
  choices: {
    store: "parts",
    changes: () => [
      store.exampleId.value,
      store.deviceChoice.value,
      store.view.value,
      store.pictures.value,
      store.graphColours.value,
      store.labSettings.value,
    ],
    capture: () => ({
      exampleId: store.exampleId.value,
      device: store.deviceChoice.value,
      view: store.view.value,
      pictures: Object.entries(store.pictures.value),
      graphColours: store.graphColours.value,
      lab: store.labSettings.value,
    }),
    restore({ exampleId, device, view, pictures = [], graphColours, lab }) {
      store.exampleId.value = exampleId;
      store.deviceChoice.value = device;
      store.view.value = view;
      store.pictures.value = Object.fromEntries(pictures);
      store.graphColours.value = graphColours;
      return takeLabSettings(lab);
    },
  },

  run: {
    store: "parts",
    changes: () => [
      store.runState.value,
      store.executed.value,
      store.fit.value,
      store.progress.value,
      store.epochs.value,
      store.error.value,
      store.branch.value,
    ],
    capture: () => ({
      state: store.runState.value,
      program: store.executed.value,
      fit: store.fit.value,
      progress: store.progress.value,
      epochs: store.epochs.value,
      error: store.error.value,
      branch: branchOf(store.executed.value),
      curvesBegan: store.curves.began,
    }),
    restore({ state, program, fit, progress, epochs, error, branch = null, curvesBegan }) {
      store.curves.began = curvesBegan;
      store.wasLeft.value = state === "running" || state === "paused";
      store.runState.value = store.wasLeft.value ? "stopped" : state;
      store.executed.value = program;
      store.fit.value = fit;
      store.progress.value = { ...progress, eta: null };
      store.epochs.value = epochs;
      store.error.value = error;
      store.branch.value = branch && { ...branch, from: program, hasBegun: true };
    },
  },

  curves: {
    store: "parts",
    changes: () => store.curvesVersion.value,
    capture: () => ({ ...store.curves.save(), began: store.curves.began }),
    restore({ began, ...saved }) {
      const { began: shownBegan } = store.curves;
      store.curves.load(saved);
      store.curves.rewind(lastStepOf(began));
      store.curves.began = shownBegan;
      store.curvesVersion.value += 1;
      // The numbers may be older.
      const shown = store.fit.value;
      const end = store.curves.steps.at(-1) ?? 0;
      if (shown && end > store.progress.value.step) store.showNumbersAt(end, shown.steps_per_epoch);
    },
  },

  output: {
    store: "parts",
    began: () => store.executed.value.began,
    changes: () => [store.transcriptVersion.value, store.executed.value.began],
    capture: () =>
      store.transcript.lines.map(({ text, stream, figure }) =>
        figure ? { text, stream, figure } : { text, stream },
      ),
    restore(lines) {
      store.transcript.restore(lines);
      store.transcriptVersion.value += 1;
    },
  },

  losses: {
    store: "parts",
    changes: () => [store.landmarks.value, store.shared.value, store.settingChanges.value],
    capture: () => ({
      landmarks: store.landmarks.value,
      shared: store.shared.value,
      settings: store.settingChanges.value,
      curvesBegan: store.curves.began,
    }),
    restore({ landmarks, shared, settings = [], curvesBegan }) {
      const last = lastStepOf(curvesBegan);
      store.landmarks.value = landmarks.filter(
        (/** @type {[number, number]} */ [step]) => step <= last,
      );
      store.settingChanges.value = settings.filter(
        (/** @type {{step: number}} */ { step }) => step <= last,
      );
      store.shared.value = shared;
    },
  },

  locks: {
    store: "parts",
    changes: () => store.locks.value,
    capture() {
      const locks = Object.entries(store.locks.value);
      return locks.length > 0 ? locks.map(([exampleId, each]) => ({ exampleId, ...each })) : null;
    },
    restore(locks) {
      const entries = locks.map((/** @type {any} */ { exampleId, lines, isHeld }) => [
        exampleId,
        { lines, isHeld },
      ]);
      store.locks.value = Object.fromEntries(entries);
    },
  },

  graph: {
    store: "parts",
    began: () => store.graphBegan.value,
    changes: () => [store.graph.value, store.graphBegan.value],
    capture: () => store.graph.value,
    restore(graph) {
      store.graph.value = graph;
      store.graphBegan.value = store.executed.value.began; // which is restored before
    },
  },

  runs: {
    store: "parts",
    changes: () => store.runs.value,
    capture: () => store.runs.value,
    restore: (runs) => void (store.runs.value = runs),
  },

  lab: {
    store: "parts",
    changes: () => store.labRuns.value,
    capture: () => store.labRuns.value,
    restore: (runs) => labRecorder.restore(runs),
  },

  checkpoint: {
    store: "checkpoints",
    changes: () => store.kept.value,
    capture: () => store.kept.value,
    restore(value) {
      if (!value) return void (store.kept.value = value);
      const { kept: options, isCorrected } = takenOptions(value.options);
      store.kept.value = { ...value, options };
      return isCorrected;
    },
  },
};

/**
 * Whether a record belongs to the run whose record is restored with it: each is saved by itself, and may
 * be older or newer than the other after a crash. Without the record of the run it is all there is.
 * @param {{began?: number}} record @param {{value: {program: {began: number}}} | undefined} run
 */
export const isOfRun = ({ began }, run) =>
  began === undefined || !run || began === run.value.program.began;

export const NAMES = /** @type {(keyof typeof PARTS)[]} */ (Object.keys(PARTS));

/**
 * The last step up to which the saved data of a fit also holds for the fit that is shown: each part
 * is saved by itself, and may be older than the others. A fit that resumes shares the steps before.
 * @param {number} [began] when its curves began
 */
function lastStepOf(began) {
  const isDamaged = !store.executed.value.began; // the record of the run
  if (began === store.curves.began || isDamaged) return Infinity;
  return store.fit.value?.done ?? 0;
}

/** What a program's run branched off from. @param {import("../state/types.js").Program} program */
function branchOf({ began }) {
  const branch = store.branch.value;
  return branch?.began === began ? { began, number: branch.number, step: branch.step } : null;
}

/** The parts that show a run. @type {(keyof typeof PARTS)[]} */
const SHOWN = ["run", "curves", "losses", "output", "graph"];

/** Take the displayed data of the run. @returns {() => void} puts it back */
export const rememberShown = () => remember(SHOWN);

/** Take the run with its weights. @returns {() => void} puts it back */
export const rememberRun = () => remember([...SHOWN, "checkpoint"]);

/** @param {(keyof typeof PARTS)[]} names */
function remember(names) {
  const values = names.map((name) => /** @type {const} */ ([name, PARTS[name].capture()]));
  return () =>
    batch(() => {
      for (const [name, value] of values) PARTS[name].restore(value);
    });
}
