/** The runs of the Lab: what is kept of each while it goes on, and when it has ended. */

import { PROGRAM, SINGLE, devicesOf, kept, runOptions, titleOf, unusedColour } from "./lab.js";
import * as store from "./store.js";

/** @import { LabRun, Trace } from "./types.js" */

/** The share of a run's steps that are its start: they compile and warm up, and do not count. */
const START = 0.1;
/** Of a long run: its speed is wanted soon. */
const LONGEST_START = 50;

let nextId = 1;
/** Whether what runs now was begun in the Lab. */
let isUnderWay = false;
/** Whether the program itself says with which strategy each of its models trains. */
let isPrograms = false;
/** When the start was over, later by what was traced. @type {{step: number, seconds: number} | null} */
let since = null;
/** What was last told. @type {{step: number, seconds: number} | null} */
let latest = null;

/** Note a new run with the present settings. @returns {Record<string, unknown>} its run options */
export function beginLabRun() {
  const choices = store.labChoices.value;
  if (!choices) return {};
  const settings = store.labSettings.value;
  isUnderWay = true;
  isPrograms = settings.strategy === PROGRAM;
  add(titleOf(settings, choices), settings.strategy === SINGLE, devicesOf(settings, choices));
  store.graphColours.value = settings.strategy === SINGLE ? "phase" : "device";
  return runOptions(settings, choices);
}

/** @param {string} title @param {boolean} isSingle @param {number} devices */
function add(title, isSingle, devices) {
  const { source, exampleId } = store.executed.value; // the code on the page may be another by now
  const example = store.examples.value.find((each) => each.id === exampleId);
  const before = kept(store.labRuns.value, source);
  /** @type {LabRun} */
  const run = {
    id: nextId++, colour: unusedColour(before), title, state: "running", isSingle, devices,
    program: source, example: `${example?.title ?? ""}${source === example?.source ? "" : ", changed"}`,
    device: null, isHeldUp: false, msPerStep: null, loss: null, steps: [], losses: [], trace: null, report: {},
  };
  store.labRuns.value = [...before, run];
  store.labShown.value = null;
}

/**
 * A fit is about to begin. Where strategies are the program's, each fit is a run by itself.
 * @param {{title: string, devices: number, isSingle: boolean, isHeldUp: boolean}} fit `title`: what
 *   Python calls its strategy; `isSingle`: it has none, and one device; `isHeldUp`: some have delays
 */
export function labFitNamed({ title, devices, isSingle, isHeldUp }) {
  if (!isUnderWay) return;
  const last = store.labRuns.value.at(-1);
  if (isPrograms && last?.device) {
    change({ state: "done" });
    add(title, isSingle, devices);
  } else if (isPrograms || (last?.isSingle && !isSingle)) {
    change({ title, devices, isSingle }); // device scopes hold without a strategy, too
  }
  change({ isHeldUp });
}

/** What a fit before it left in the same run makes room. @param {string} name of its device */
export function labFitBegan(name) {
  since = latest = null;
  const device = name.split(":")[0];
  change({ device, msPerStep: null, loss: null, steps: [], losses: [], trace: null, report: {} });
}

/** @param {number} step @param {number} seconds */
export function labProgress(step, seconds) {
  if (!isUnderWay) return;
  const whole = store.fit.value?.total_steps ?? 0;
  latest = { step, seconds };
  if (!since) {
    if (step >= Math.min(START * whole, LONGEST_START)) since = latest;
  } else if (step > since.step) {
    change({ msPerStep: (1000 * (seconds - since.seconds)) / (step - since.step) });
  }
}

/** @param {Trace} trace @param {number} seconds what it took: such steps are slow, and do not count */
export function labTraced(trace, seconds) {
  if (since && latest && since.step + trace.steps <= latest.step) {
    since = { step: since.step + trace.steps, seconds: since.seconds + seconds };
    labProgress(latest.step, latest.seconds);
  }
  change({ trace });
}

/**
 * Keep the curve: the next run begins it anew.
 * @param {import("./types.js").ParallelReport} report
 */
export function labFitEnded(report) {
  const { steps, series } = store.curves;
  change({
    steps: [...steps],
    losses: [...series.trendLoss],
    loss: series.trendLoss.findLast((value) => value !== null) ?? null,
    report,
  });
}

/** @param {string} state */
export function labRunEnded(state) {
  const hasTrained = Boolean(store.labRuns.value.at(-1)?.device);
  change({ state: state === "done" && !hasTrained ? "no fit() was called" : state });
  isUnderWay = false;
}

/** @param {number} id */
export function forgetLabRun(id) {
  store.labRuns.value = store.labRuns.value.filter((run) => run.id !== id);
}

/** Note something of the run under way. @param {Partial<LabRun>} news */
function change(news) {
  if (!isUnderWay) return;
  const runs = store.labRuns.value;
  const last = runs.at(-1);
  if (last) store.labRuns.value = [...runs.slice(0, -1), { ...last, ...news }];
}
