/** Records the runs of the Lab in the store, while they train and when they end. */

import { PROGRAM, SINGLE, devicesOf, runsToKeep, runOptions, titleOf } from "./lab.js";
import { unusedColour } from "../runs/runs.js";
import * as store from "../../state/store.js";

/** @import { LabOptions, ParallelReport, Trace } from "../../../engine/messages.js" */
/** @import { LabRun } from "../../state/types.js" */

/** The share of a run that compiles and warms up, and does not count for its speed. */
const WARM_UP = 0.1;
/** The largest number of steps to warm up: a long run should show its speed soon, too. */
const MOST_WARM_UP_STEPS = 50;

/** Follows the name of an example whose code was changed, in the record of a run. */
export const EDITED = ", edited";

/** @typedef {{step: number, seconds: number}} Moment */

class LabRecorder {
  #lastId = 0;
  /** Whether the current run was started in the Lab. */
  #isRecording = false;
  /** Whether the program chooses the strategy of each of its models. */
  #isByProgram = false;
  /** The end of the warm-up, moved on by the cost of traced steps. @type {Moment | null} */
  #since = null;
  /** The last progress. @type {Moment | null} */
  #latest = null;

  /** Show the runs of an earlier visit. @param {LabRun[]} runs */
  restore(runs) {
    store.labRuns.value = runs.map((run) =>
      run.state === "running" || run.state === "paused" ? { ...run, state: "stopped" } : run,
    );
    this.#lastId = Math.max(this.#lastId, ...runs.map(({ id }) => id));
  }

  /** Add a run with the present settings. @returns {{devices?: number, lab?: LabOptions}} its run options */
  begin() {
    const choices = store.labChoices.value;
    if (!choices) return {};
    const settings = store.labSettings.value;
    this.#isRecording = true;
    this.#isByProgram = settings.strategy === PROGRAM;
    this.#add(
      titleOf(settings, choices),
      settings.strategy === SINGLE,
      devicesOf(settings, choices),
    );
    store.graphColours.value = settings.strategy === SINGLE ? "phase" : "device";
    return runOptions(settings, choices);
  }

  /** Record the fits of a training that runs elsewhere. @param {string} title until it says more */
  follow(title) {
    this.#isRecording = this.#isByProgram = true;
    this.#since = this.#latest = null;
    this.#add(title, false, 1);
  }

  /**
   * A fit is about to begin. If the program chooses the strategies, each fit is a run of its own.
   * @param {{title: string, devices: number, isSingle: boolean, isHeldUp: boolean}} fit
   *   `title`: Python's name of its strategy; `isSingle`: on one device, without a strategy;
   *   `isHeldUp`: some devices have delays
   */
  fitNamed({ title, devices, isSingle, isHeldUp }) {
    if (!this.#isRecording) return;
    const last = store.labRuns.value.at(-1);
    if (this.#isByProgram && last?.device) {
      this.#change({ state: "done" });
      this.#add(title, isSingle, devices);
    } else if (this.#isByProgram || (last?.isSingle && !isSingle)) {
      this.#change({ title, devices, isSingle }); // device scopes apply without a strategy, too
    }
    this.#change({ isHeldUp });
  }

  /** Replace the numbers of an earlier fit in the same run. @param {string} device for instance "cpu:0" */
  fitBegan(device) {
    this.#since = this.#latest = null;
    const [kind] = device.split(":");
    this.#change({
      device: kind,
      msPerStep: null,
      loss: null,
      steps: [],
      losses: [],
      trace: null,
      report: {},
    });
  }

  /** @param {number} step @param {number} seconds */
  progressed(step, seconds) {
    if (!this.#isRecording) return;
    const total = store.fit.value?.total_steps ?? 0;
    this.#latest = { step, seconds };
    const since = this.#since;
    if (!since) {
      if (step >= Math.min(WARM_UP * total, MOST_WARM_UP_STEPS)) this.#since = this.#latest;
    } else if (step > since.step) {
      this.#change({ msPerStep: (1000 * (seconds - since.seconds)) / (step - since.step) });
    }
  }

  /**
   * @param {Trace} trace
   * @param {number} seconds the duration of the traced steps: they are slow, and do not count
   */
  traced(trace, seconds) {
    const [since, latest] = [this.#since, this.#latest];
    if (since && latest && since.step + trace.steps <= latest.step) {
      this.#since = { step: since.step + trace.steps, seconds: since.seconds + seconds };
      this.progressed(latest.step, latest.seconds);
    }
    this.#change({ trace });
  }

  /** Copy the curve, which the next run overwrites. @param {ParallelReport} report */
  fitEnded(report) {
    const { steps, series } = store.curves;
    this.#change({
      steps: [...steps],
      losses: [...series.trendLoss],
      loss: series.trendLoss.findLast((value) => value !== null) ?? null,
      report,
    });
  }

  /** @param {string} state */
  runEnded(state) {
    const hasTrained = Boolean(store.labRuns.value.at(-1)?.device);
    this.#change({ state: state === "done" && !hasTrained ? "no fit() was called" : state });
    this.#isRecording = false;
  }

  /** @param {string} title @param {boolean} isSingle @param {number} devices */
  #add(title, isSingle, devices) {
    const { source, exampleId } = store.executed.value; // the editor may show other code by now
    const example = store.examples.value.find((each) => each.id === exampleId);
    const before = runsToKeep(store.labRuns.value, source);
    /** @type {LabRun} */
    const run = {
      id: ++this.#lastId,
      colour: unusedColour(before),
      title,
      state: "running",
      isSingle,
      devices,
      program: source,
      example: `${example?.title ?? ""}${store.differs(example, source) ? EDITED : ""}`,
      device: null,
      isHeldUp: false,
      msPerStep: null,
      loss: null,
      steps: [],
      losses: [],
      trace: null,
      report: {},
    };
    store.labRuns.value = [...before, run];
    store.labShown.value = null;
  }

  /** Update the current run. @param {Partial<LabRun>} news */
  #change(news) {
    if (!this.#isRecording) return;
    const runs = store.labRuns.value;
    const last = runs.at(-1);
    if (last) store.labRuns.value = [...runs.slice(0, -1), { ...last, ...news }];
  }
}

export const labRecorder = new LabRecorder();

/** @param {number} id */
export function removeLabRun(id) {
  store.labRuns.value = store.labRuns.value.filter((run) => run.id !== id);
}
