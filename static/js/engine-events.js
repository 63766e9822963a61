/**
 * What each event of the engine changes in the store. Events that come in floods (progress, output)
 * are gathered and applied once a frame, so that the page never falls behind.
 */

import { batch } from "../vendor/preact.js";
import { DeviceEvent, PythonEvent } from "./engine-client.js";
import {
  labFitBegan, labFitEnded, labFitNamed, labProgress, labRunEnded, labTraced,
} from "./lab-runs.js";
import * as store from "./store.js";

/** @typedef {import("./engine-client.js").EngineEvent} EngineEvent */

/** @type {ReadonlySet<string>} */
const OUTPUT = new Set([PythonEvent.STDOUT, PythonEvent.STDERR]);
/** @type {ReadonlySet<string>} */
const FLOODS = new Set([PythonEvent.PROGRESS, ...OUTPUT]);
/** Browsers draw no frames for a page in the background; its events still must not pile up. */
const BACKGROUND_MS = 250;
/** What a user who asked for this wants to hear no more of. */
const OLD_NEWS = new Set([
  ...FLOODS, PythonEvent.EPOCH_END, PythonEvent.FIT_BEGIN, PythonEvent.GRAPH, PythonEvent.TRACE,
]);

const STAGES = /** @type {Record<string, string>} */ ({
  python: "Starting Python",
  library: "Loading the library",
});

/** @type {EngineEvent[]} */
let waiting = [];
let frame = 0;
let timer = 0;

/** @param {EngineEvent} event */
export function receive(event) {
  const last = waiting.at(-1);
  // A loop that prints sends thousands of small pieces.
  if (OUTPUT.has(event.kind) && last?.kind === event.kind) last.text += event.text;
  else waiting.push(event);
  if (!FLOODS.has(event.kind)) flush();
  else if (!frame && !timer) {
    frame = requestAnimationFrame(flush);
    timer = setTimeout(flush, BACKGROUND_MS);
  }
}

function flush() {
  cancelAnimationFrame(frame);
  clearTimeout(timer);
  frame = timer = 0;
  const events = waiting;
  waiting = [];
  batch(() => {
    for (const event of events) {
      if (store.intent.value === "reset" && OLD_NEWS.has(event.kind)) continue;
      handlers[event.kind]?.(event);
    }
  });
}

/** @type {Record<string, (event: EngineEvent) => void>} */
const handlers = {
  [PythonEvent.LOADING]({ stage }) {
    store.bootStage.value = STAGES[stage] ?? "";
  },

  [PythonEvent.READY]({ version, python, numpy }) {
    store.versions.value = { playgrad: version, python, numpy };
    store.bootStage.value = "";
    store.startingDevices.value = [];
    store.tuning.value = null;
    store.engine.value = "up";
  },

  [PythonEvent.STATUS]({ state }) {
    store.runState.value = state;
    const { intent } = store;
    if (intent.value !== "stop" && intent.value !== "reset") intent.value = null;
    else if (state !== "running" && state !== "paused") intent.value = null;
    if (store.active.value) return;
    if (!store.hasModel.value) store.clearGraph(); // it is that of an earlier program
    labRunEnded(state);
  },

  [PythonEvent.STDOUT]({ text }) {
    print(text, "stdout");
  },

  [PythonEvent.STDERR]({ text }) {
    print(text, "stderr");
  },

  [PythonEvent.ERROR]({ type, message, line, op, traceback }) {
    store.error.value = { type, message, line: line ?? null, op: op ?? null, traceback };
  },

  [PythonEvent.FIT_BEGIN](event) {
    store.clearRun();
    store.hasModel.value = true;
    store.fit.value = /** @type {import("./types.js").Fit} */ (/** @type {unknown} */ (event));
    labFitBegan(event.device);
  },

  [PythonEvent.PROGRESS](event) {
    for (const [step, loss, accuracy] of event.points) store.curves.add(step, loss, accuracy);
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
    labProgress(event.step, event.seconds);
  },

  [PythonEvent.EPOCH_END]({ epoch, step, loss, accuracy, test_loss, test_accuracy }) {
    const row = {
      epoch, step, loss, accuracy: accuracy ?? null,
      testLoss: test_loss ?? null, testAccuracy: test_accuracy ?? null,
    };
    store.epochs.value = [...store.epochs.value, row];
    store.curves.mark(step, row.testLoss, row.testAccuracy);
    store.curvesVersion.value += 1;
    const { testLoss, testAccuracy } = row;
    store.progress.value = { ...store.progress.value, epoch, step, testLoss, testAccuracy };
  },

  [PythonEvent.FIT_END]({ test_accuracy, parallel }) {
    const testAccuracy = test_accuracy ?? store.progress.value.testAccuracy;
    store.progress.value = { ...store.progress.value, testAccuracy, eta: null };
    labFitEnded(parallel);
  },

  [PythonEvent.LAB_CHOICES]({ strategies, schedules, collectives, details }) {
    store.labChoices.value = { strategies, schedules, collectives, details };
  },

  [PythonEvent.LAB_FIT]({ title, devices, single, held_up }) {
    labFitNamed({ title, devices, isSingle: single, isHeldUp: held_up });
  },

  [PythonEvent.TRACE]({ steps, seconds, timeline, events, bubble_formula, memory }) {
    labTraced({ steps, timeline, events, bubble_formula, memory }, seconds);
  },

  [PythonEvent.TUNING]({ kernels, measured, wanted }) {
    store.tuning.value = { kernels, measured, wanted };
  },

  [PythonEvent.TUNINGS]() {
    store.tuning.value = null; // to be asked for again
  },

  [PythonEvent.GRAPH]({ graph }) {
    store.graph.value = graph;
    store.selectedNode.value = null;
  },

  [PythonEvent.CRASH]({ message }) {
    const wasStarting = store.engine.value === "starting";
    store.engine.value = wasStarting ? "broken" : "starting";
    store.queuedRun.value = null;
    store.intent.value = null;
    store.hasModel.value = false;
    store.runState.value = "error";
    store.error.value = crashReport(message);
    labRunEnded("error");
  },

  [DeviceEvent.DEVICE]({ available, info, error }) {
    const problem = available ? null : (error?.message ?? error ?? "no WebGPU adapter was found");
    store.gpu.value = { known: true, info: available ? info : null, problem };
  },

  [DeviceEvent.WORKER]({ device, state, message }) {
    const others = store.startingDevices.value.filter((name) => name !== device);
    const slow = state === "starting" && device.startsWith("cpu");
    store.startingDevices.value = slow ? [...others, device].sort() : others;
    if (state !== "lost") return;
    store.notice.value = `${device}: ${message} The next run opens a new device.`;
    store.transcript.note(store.notice.value);
    store.transcriptVersion.value += 1;
  },
};

/** @param {string} text what the worker said, perhaps with a traceback, whose last line says most */
function crashReport(text) {
  const lines = text.trim().split("\n");
  const traceback = lines.length > 1 ? text : undefined;
  const message = `${lines.at(-1)}\nThe engine is started afresh; the next run works again.`;
  return { type: "EngineError", message, line: null, op: null, traceback };
}

/** @param {string} text @param {"stdout" | "stderr"} stream */
function print(text, stream) {
  store.transcript.add(text, stream);
  store.transcriptVersion.value += 1;
}
