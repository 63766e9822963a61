/** The effect of each event of the engine on the store. */

import { kindOf } from "../../engine/kinds.js";
import { batch } from "../../vendor/preact.js";
import { report } from "../training/doctor.js";
import { labRecorder } from "../panels/lab/lab-runs.js";
import { t } from "../words/locale.js";
import { describe } from "../output/figure-text.js";
import { branchBegan } from "../session/branches.js";
import { upTo, withCheckpoint } from "../session/checkpoint-ring.js";
import { isLandmark } from "../sharing/landmarks.js";
import * as store from "../state/store.js";
import { isWatching } from "../watching/watched.js";
import { EventQueue } from "./event-queue.js";
import { reasonInWords } from "./gpu-problem.js";

/**
 * @typedef {import("./engine-client.js").EngineEvent} EngineEvent
 * @typedef {{[K in EngineEvent["kind"]]: (event: Extract<EngineEvent, {kind: K}>) => void}} Handlers
 */

/** Events of a run that are of no interest once the user has asked for a reset. @type {ReadonlySet<string>} */
const DROPPED_BY_RESET = new Set([
  "progress",
  "stdout",
  "stderr",
  "figure",
  "epoch_end",
  "rating",
  "fit_begin",
  "setting",
  "graph",
  "trace",
  "checkpoint",
  "doctor",
  "game",
]);

/** Settings that were changed while training are marked on the curve: the last ones. */
const MOST_CHANGES = 100;

const queue = new EventQueue((events) =>
  batch(() => {
    for (const event of events) {
      if (store.intent.value === "reset" && DROPPED_BY_RESET.has(event.kind)) continue;
      /** @type {(event: any) => void} */ (handlers[event.kind])(event);
    }
  }),
);

/** @param {EngineEvent} event */
export const receive = (event) => queue.push(event);

/** Apply the events that wait for the next frame. */
export const flushEvents = () => queue.flush();

/**
 * A checkpoint as the page keeps it.
 * @param {Extract<EngineEvent, {kind: "checkpoint"}>} event
 * @param {Pick<import("../state/types.js").Kept, "program" | "options">} owner the run that it belongs to
 * @returns {import("../state/types.js").Kept}
 */
export const keptOf = (
  { bytes, step, total_steps: totalSteps, epoch, epochs, parameters, finished },
  { program, options },
) => ({
  bytes,
  step,
  totalSteps,
  epoch,
  epochs,
  parameters,
  finished,
  at: Date.now(),
  program,
  options,
});

/** Do something with the module that runs the trials of a program's sweep. @param {(trials: typeof import("../trials/program-trials.js")) => void} use */
const sweep = async (use) => use(await import("../trials/program-trials.js"));

/** @type {Handlers} */
const handlers = {
  loading({ stage, progress = null, problem = "" }) {
    store.bootStage.value = stage;
    store.bootProgress.value = progress;
    store.reportLoading("python", problem && t().loading.python(problem));
  },

  data_awaited: ({ awaited }) => (store.awaitedData.value = awaited),
  data_problem: ({ problem }) => store.reportLoading("data", problem),

  data_arrived({ path }) {
    store.dataFiles.value = [...store.dataFiles.value, path];
  },

  ready({ version, python, numpy, isRestored, isQuick }) {
    store.pythonStart.value = { isRestored, isQuick };
    store.versions.value = { playgrad: version, python, numpy };
    store.bootStage.value = "python";
    store.bootProgress.value = null;
    store.reportLoading("python", "");
    store.startingDevices.value = [];
    store.tuning.value = null;
    store.liveModel.value = false;
    store.game.value = null;
    store.hasNamespace.value = false;
    store.engine.value = "up";
  },

  status({ state, built = false }) {
    store.runState.value = state;
    store.builtModel.value = built;
    store.hasNamespace.value = state !== "idle" && !isWatching;
    if (state === "running") store.past.value = null;
    const { intent } = store;
    if (intent.value !== "stop" && intent.value !== "reset") intent.value = null;
    else if (state !== "running" && state !== "paused") intent.value = null;
    if (store.active.value) return;
    const isOfThisRun =
      store.liveModel.value || store.graphBegan.value === store.executed.value.began;
    if (!isOfThisRun) store.clearGraph();
    // A run that trained nothing leaves the weights of the run before.
    if (store.liveModel.value && store.kept.value && store.progress.value.step === 0)
      store.liveModel.value = false;
    labRecorder.runEnded(state);
  },

  stdout: (output) => print(output, "stdout"),

  stderr: (output) => print(output, "stderr"),

  figure({ figure }) {
    store.transcript.addFigure(figure, describe(figure));
    store.transcriptVersion.value += 1;
  },

  error({ type, message, line, op, traceback, problem }) {
    store.showError({ type, message, line, op, traceback, problem });
  },

  game({ game }) {
    if (!isWatching) store.game.value = game; // of a run elsewhere, nobody here can be asked
  },

  fit_begin({ points = [], ...fit }) {
    if (!store.fit.value) store.side.value = "panels"; // on a phone, the first training of a run
    branchBegan();
    store.past.value = null;
    store.earlierSeconds.value += fit.done > 0 ? 0 : store.progress.value.seconds;
    if (fit.done > 0) {
      store.curves.rewind(fit.done);
      store.checkpoints.value = upTo(store.checkpoints.value, fit.done);
      store.landmarks.value = store.landmarks.value.filter(([step]) => step <= fit.done);
      addMissing(points);
      store.settingChanges.value = store.settingChanges.value.filter(
        ({ step }) => step <= fit.done,
      );
      store.curvesVersion.value += 1;
      store.epochs.value = store.epochs.value.filter(({ step }) => step <= fit.done);
      store.showNumbersAt(fit.done, fit.steps_per_epoch);
    } else store.clearRun();
    store.liveModel.value = !isWatching; // its model is elsewhere
    store.fit.value = fit;
    labRecorder.fitBegan(fit.device);
  },

  progress(event) {
    for (const [step, loss, accuracy] of event.points) store.curves.add(step, loss, accuracy);
    addLandmarks(event.points.filter(([step]) => isLandmark(step)));
    store.curvesVersion.value += 1;
    const last = event.points.at(-1);
    store.progress.value = {
      ...store.progress.value,
      epoch: event.epoch,
      step: event.step,
      loss: last ? last[1] : store.progress.value.loss,
      accuracy: last ? last[2] : store.progress.value.accuracy,
      stepsPerSecond: event.steps_per_second,
      seconds: event.seconds,
      eta: event.eta_seconds,
    };
    if (store.intent.value === "step") store.intent.value = null;
    labRecorder.progressed(event.step, event.seconds);
  },

  epoch_end({ epoch, step, loss, accuracy, test_loss: testLoss, test_accuracy: testAccuracy }) {
    const row = { epoch, step, loss, accuracy, testLoss, testAccuracy };
    store.epochs.value = [...store.epochs.value, row];
    store.curves.mark(step, testLoss, testAccuracy);
    store.curvesVersion.value += 1;
    store.progress.value = { ...store.progress.value, epoch, step, testLoss, testAccuracy };
  },

  rating({ step, elo }) {
    store.curves.rate(step, elo);
    store.curvesVersion.value += 1;
  },

  fit_end({ test_accuracy, seconds, parallel }) {
    const { step, loss } = store.progress.value;
    if (loss !== null) addLandmarks([[step, loss]]);
    const testAccuracy = test_accuracy ?? store.progress.value.testAccuracy;
    store.progress.value = { ...store.progress.value, testAccuracy, seconds, eta: null };
    labRecorder.fitEnded(parallel);
  },

  checkpoint(event) {
    const { bytes, step } = event;
    // Before its training begins, a resumed run sends the checkpoints of its earlier ones.
    if (store.liveModel.value)
      store.checkpoints.value = withCheckpoint(store.checkpoints.value, { bytes, step });
    const before = store.kept.value;
    // The weights of an earlier run are worth more than untrained ones.
    if (step === 0 && store.active.value) return;
    // After an import, the weights still belong to the run that trained them.
    const owner =
      before && !store.active.value
        ? before
        : { program: store.executed.value, options: store.runOptions.value };
    store.kept.value = keptOf(event, owner);
  },

  lab_choices({ strategies, schedules, collectives, details }) {
    store.labChoices.value = { strategies, schedules, collectives, details };
  },

  lab_fit({ title, devices, single, held_up }) {
    labRecorder.fitNamed({ title, devices, isSingle: single, isHeldUp: held_up });
  },

  trace({ seconds, steps, timeline, events, bubble_formula, memory }) {
    labRecorder.traced({ steps, timeline, events, bubble_formula, memory }, seconds);
  },

  tuning({ kernels, measured, wanted }) {
    store.tuning.value = { kernels, measured, wanted };
  },

  tunings() {
    store.tuning.value = null; // out of date: ask Python again
  },

  setting({ step, name, before, after }) {
    store.settingChanges.value = [
      ...store.settingChanges.value,
      { step, name, before, after },
    ].slice(-MOST_CHANGES);
  },

  graph({ graph }) {
    store.graph.value = graph;
    store.graphBegan.value = store.executed.value.began;
    store.selectedNode.value = null;
  },

  doctor: ({ findings, lost }) => report(findings, lost),

  trial_start: (event) => sweep(({ startTrial }) => startTrial(event)),
  trial_verdict: (event) => sweep(({ answerTrial }) => answerTrial(event)),
  trials_end: () => sweep(({ endTrials }) => endTrials()),
  trial_message() {}, // only of interpreters beside the page's

  forged() {
    const sentence = t().notes.forged;
    if (store.notice.value !== sentence) note(sentence);
  },

  reused() {
    note(t().notes.reused);
  },

  crash({ message }) {
    const wasStarting = store.engine.value === "starting";
    store.engine.value = wasStarting ? "broken" : "starting";
    store.intent.value = null;
    store.liveModel.value = false;
    store.hasNamespace.value = false;
    store.runState.value = "error";
    store.showError(crashReport(message, wasStarting));
    labRecorder.runEnded("error");
  },

  device(event) {
    const { isAsked, info } = store.gpu.value;
    if (event.available && info?.name === event.info.name) return; // as before
    const problem = event.available ? "" : reasonInWords(event.reason, event.error);
    if (!event.available && info) note(t().devices.gone(problem));
    store.gpu.value = event.available
      ? { known: true, info: event.info, problem: null, isAsked: false }
      : { known: true, info: null, problem: event.error, reason: event.reason, isAsked: false };
    if (!isAsked) return;
    store.note(
      event.available ? t().devices.back(event.info.name) : t().devices.stillGone(problem),
    );
  },

  device_worker({ device, state, message }) {
    const others = store.startingDevices.value.filter((name) => name !== device);
    const slow = state === "starting" && !kindOf(device)?.runsPlans; // it starts a Python
    store.startingDevices.value = slow ? [...others, device].sort() : others;
    if (state !== "lost") return;
    if (!store.gpu.value.known) {
      store.gpu.value = {
        known: true,
        info: null,
        problem: message ?? t().devices.workerEnded,
        isAsked: false,
      };
      return;
    }
    note(t().devices.lost(device, message ?? ""));
  },
};

/** Show steps that the checkpoint has and the page missed. @param {[number, number, number | null][]} points */
function addMissing(points) {
  const shown = store.curves.steps.at(-1) ?? 0;
  const missed = points.filter(([step]) => step > shown);
  for (const [step, loss, accuracy] of missed) store.curves.add(step, loss, accuracy);
  addLandmarks(missed.filter(([step]) => isLandmark(step)));
}

/** @param {[number, number, ...unknown[]][]} points */
function addLandmarks(points) {
  const last = store.landmarks.value.at(-1)?.[0] ?? 0;
  const added = points.filter(([step]) => step > last);
  if (added.length > 0) store.landmarks.value = [...store.landmarks.value, ...added.map(pair)];
}

/** @param {[number, number, ...unknown[]]} point @returns {[number, number]} */
const pair = ([step, loss]) => [step, loss];

/**
 * @param {string} text the worker's message, perhaps a traceback, whose last line says most
 * @param {boolean} wasStarting
 */
function crashReport(text, wasStarting) {
  const lines = text.trim().split("\n");
  const traceback = lines.length > 1 ? text : undefined;
  const then = wasStarting ? t().errors.startsAgain : t().errors.restarts;
  const message = `${lines.at(-1)}\n${then}`;
  return { type: "EngineError", message, line: null, op: null, traceback };
}

/** Show a sentence above the page and in its output. @param {string} sentence */
function note(sentence) {
  store.note(sentence);
  store.transcript.note(sentence);
  store.transcriptVersion.value += 1;
}

/** @param {import("../../engine/messages.js").Output} output @param {"stdout" | "stderr"} stream */
function print({ text, left_out: leftOut, end }, stream) {
  store.transcript.add(text, stream);
  if (leftOut) store.transcript.skip(leftOut, stream);
  if (end) store.transcript.add(end, stream);
  store.transcriptVersion.value += 1;
}
