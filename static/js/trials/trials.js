/** Several values of one field of the program, tried in interpreters of their own and compared. */

import { batch, signal } from "../../vendor/preact.js";
import { flushEvents, keptOf } from "../engine/engine-events.js";
import { EventQueue } from "../engine/event-queue.js";
import { withRun } from "../panels/runs/runs.js";
import { Curves } from "../pictures/curves.js";
import { runOf } from "../session/run-recorder.js";
import * as store from "../state/store.js";
import { clearFindings } from "../training/doctor.js";
import { mostAtOnce, runBeside } from "./trial-runner.js";

/**
 * @import { Field } from "../blocks/catalogue.js"
 * @import { PythonEvent } from "../../engine/messages.js"
 *
 * @typedef {{label: string, field: Field, text: string, sourceWith: (value: string) => string,
 *            write: (value: string) => void}} Subject
 *   `text`: the value that the program has; `sourceWith`: its text with another; `write`: puts one into the editor
 * @typedef {"waiting" | "running" | "done" | "error" | "stopped"} TrialState
 */

/** The subject of the trials, or null: the dialog is closed. @type {import("../../vendor/preact.js").Signal<Subject | null>} */
export const subject = signal(null);
/** @type {import("../../vendor/preact.js").Signal<Trial[]>} */
export const trials = signal([]);
/** Counts the events of the trials. */
export const trialsVersion = signal(0);

export class Trial {
  /** When it began, which tells it from all runs; 0 before. */
  id = 0;
  /** @type {TrialState} */
  state = "waiting";
  curves = new Curves();
  /** Why it failed. */
  problem = "";
  /** @type {import("../state/types.js").EpochRow[]} */
  epochs = [];
  /** @type {Extract<PythonEvent, {kind: "checkpoint"}> | null} */
  checkpoint = null;
  /** @type {Extract<PythonEvent, {kind: "fit_begin"}> | null} */
  fit = null;
  progress = { step: 0, seconds: 0, epoch: 0 };
  /** @type {{loss: number | null, accuracy: number | null, testLoss: number | null, testAccuracy: number | null}} */
  result = { loss: null, accuracy: null, testLoss: null, testAccuracy: null };
  /** Ends its interpreter. */
  end = () => {};

  /** @param {string} value @param {string} source */
  constructor(value, source) {
    this.value = value;
    this.source = source;
  }

  /** @param {Trial[]} others of which some have begun */
  begin(others) {
    const taken = [...store.runs.value, ...others.filter((each) => each !== this)];
    this.id = Math.max(Date.now(), ...taken.map(({ id }) => id + 1));
    this.state = "running";
  }

  /** @param {PythonEvent} event @returns {boolean} whether it has ended */
  hear(event) {
    switch (event.kind) {
      case "fit_begin":
        this.epochs = [];
        this.curves.clear();
        this.fit = event;
        break;
      case "progress": {
        for (const [step, loss, accuracy] of event.points) this.curves.add(step, loss, accuracy);
        this.progress = { step: event.step, seconds: event.seconds, epoch: event.epoch };
        break;
      }
      case "epoch_end": {
        const { epoch, step, test_loss: testLoss, test_accuracy: testAccuracy } = event;
        this.result = { loss: event.loss, accuracy: event.accuracy, testLoss, testAccuracy };
        this.epochs.push({ epoch, step, ...this.result });
        this.curves.mark(step, testLoss, testAccuracy);
        break;
      }
      case "rating":
        this.curves.rate(event.step, event.elo);
        break;
      case "checkpoint":
        this.checkpoint = event;
        break;
      case "error":
        this.problem = event.message;
        break;
      case "status":
        if (event.state === "running" || event.state === "paused") break;
        this.state = event.state === "done" ? "done" : "error";
        return true;
    }
    return false;
  }

  /** The number by which trials are compared, larger is better; null if it has none. */
  get score() {
    const { testAccuracy, testLoss, loss } = this.result;
    const lost = [loss, testLoss].some((each) => each !== null && !Number.isFinite(each));
    if (this.state !== "done" || lost) return null;
    return testAccuracy ?? (testLoss === null ? loss && -loss : -testLoss);
  }
}

/** The best trial that has ended; null if none has a result. */
export function bestTrial() {
  const scored = trials.value.filter(({ score }) => score !== null);
  return scored.length < 2
    ? null
    : scored.reduce((best, each) => (Number(each.score) > Number(best.score) ? each : best));
}

/** Whether trials are under way. */
export const isTrying = () =>
  trials.value.some(({ state }) => state === "running" || state === "waiting");

/** Offer to try several values. @param {Subject} chosen */
export function offer(chosen) {
  batch(() => {
    subject.value = chosen;
    trials.value = [];
  });
}

/** Try values. @param {string[]} values as Python writes them */
export function begin(values) {
  const { sourceWith } = /** @type {Subject} */ (subject.value);
  trials.value = values.map((value) => new Trial(value, sourceWith(value)));
  for (let place = 0; place < mostAtOnce(); place++) beginNext();
}

function beginNext() {
  const trial = trials.value.find(({ state }) => state === "waiting");
  if (!trial) return;
  trial.begin(trials.value);
  const finish = (/** @type {string} */ problem = "") => {
    if (!trials.value.includes(trial) || trial.state === "stopped") return;
    if (problem) Object.assign(trial, { problem, state: "error" });
    trial.end();
    record(trial);
    beginNext();
    trialsVersion.value += 1;
  };
  const queue = new EventQueue((events) => {
    if (events.some((event) => trial.hear(/** @type {PythonEvent} */ (event)))) finish();
    trialsVersion.value += 1;
  });
  trial.end = runBeside({
    source: trial.source,
    heard: (event) =>
      queue.push(/** @type {import("../engine/engine-client.js").EngineEvent} */ (event)),
    ended: finish,
  }).close;
  trialsVersion.value += 1;
}

/** End the trials that have not ended. */
export function stop() {
  for (const trial of trials.value) {
    if (trial.state !== "running" && trial.state !== "waiting") continue;
    trial.state = "stopped";
    trial.end();
  }
  trialsVersion.value += 1;
}

/** Close the dialog. */
export function close() {
  stop();
  subject.value = null;
}

/** Add a trial to the runs. @param {Trial} trial @param {string} [title] */
export function record(trial, title) {
  const { state, fit, progress, result, curves } = trial;
  if (!fit || progress.step === 0) return;
  const run = runOf(programOf(trial), fit, state, { ...progress, ...result }, curves);
  store.runs.value = withRun(store.runs.value, title === undefined ? run : { ...run, title });
}

/** @param {Trial} trial */
const programOf = ({ source, id }) => ({ exampleId: store.exampleId.value, source, began: id });

/** Put the value of a trial into the program, and show its training and its weights. @param {Trial} trial */
export function keep(trial) {
  const { write } = /** @type {Subject} */ (subject.value);
  close();
  write(trial.value);
  if (!trial.checkpoint || !trial.fit || store.active.value) return;
  flushEvents();
  const { checkpoint, curves, epochs, fit, progress, result } = trial;
  const program = programOf(trial);
  batch(() => {
    store.clearResults();
    clearFindings();
    store.executed.value = program;
    store.runOptions.value = {};
    store.branch.value = null;
    store.earlierSeconds.value = 0;
    store.fit.value = fit;
    store.curves.load(curves.save());
    store.curvesVersion.value += 1;
    store.epochs.value = epochs;
    store.progress.value = { ...store.progress.value, ...progress, ...result };
    store.runState.value = "done";
    store.kept.value = keptOf(checkpoint, { program, options: {} }); // which Python takes when it is asked
  });
}
