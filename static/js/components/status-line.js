import { kindOf } from "../../engine/kinds.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { resume } from "../state/actions.js";
import { missingFeature } from "../start/boot-features.js";
import { isLost } from "../training/doctor.js";
import { gpuProblem } from "../engine/gpu-problem.js";
import { duration, loss } from "../words/format.js";
import { t } from "../words/locale.js";
import { enabled } from "../frame/shortcuts.js";
import * as store from "../state/store.js";
import { isWatching, link } from "../watching/watched.js";
import { StatusSentence } from "./status-sentence.js";

/** What the status does not say; "" if that is all there is. */
function news() {
  const { engine, queuedRun, notice, runState, startingDevices, progress } = store;
  const words = t().status;
  if (isWatching && runState.value === "idle") return t().watching.waiting;
  if (isWatching && store.active.value && link.value.state !== "live") return t().watching.asOf;
  if (engine.value === "broken") {
    return missingFeature() ? words.unsupported : words.notStarted;
  }
  if (engine.value === "starting") {
    return t().numbers.sentences([
      notice.value,
      words.stages[store.bootStage.value],
      amount(),
      queuedRun.value ? words.waits : "",
    ]);
  }
  if (underWay()) return "";
  if (store.past.value) return t().undo.looking(store.past.value.step, progress.value.step);
  if (notice.value) return notice.value;
  if (store.source.value.trim() === "" && !store.active.value) return words.noCode;
  if (
    kindOf(store.deviceChoice.value)?.isListed &&
    !store.active.value &&
    store.gpu.value.problem
  ) {
    return words.noGpu(gpuProblem());
  }
  const divergence = store.divergence.value ? diverged(store.divergence.value) : "";
  switch (runState.value) {
    case "running":
      if (startingDevices.value.length > 0) return words.startingDevices(startingDevices.value);
      return store.awaitedData.value ? loadingData(store.awaitedData.value) : "";
    case "paused":
      return isLost.value ? words.lost : "";
    case "stopped":
      if (divergence) return t().numbers.sentences([words.stopped, divergence]);
      return store.kept.value ? words.stoppedKept : "";
    case "done":
      return divergence;
    case "error":
      return store.error.value || isWatching ? words.failed : words.failedBefore;
    default:
      return "";
  }
}

/** The status in a sentence. */
function plainly() {
  const { runState, fit, progress } = store;
  const about = fit.value;
  const words = t().status;
  const command = underWay();
  if (command) return command;
  switch (runState.value) {
    case "running":
      return about?.device ? words.training(about.parameters, place(about)) : words.running;
    case "paused":
      return about ? words.paused[store.stepUnit.value] : words.pausedBefore;
    case "stopped":
      return words.stopped;
    case "done":
      return about
        ? words.trained(duration(store.earlierSeconds.value + progress.value.seconds))
        : words.finished;
    default:
      return words.idle;
  }
}

/** The command that the engine executes, in a sentence; "" if it needs none. */
function underWay() {
  /** @type {Partial<Record<import("../state/store.js").Intent, string>>} */
  const intents = t().status.intents;
  return (store.intent.value && intents[store.intent.value]) ?? "";
}

/** @param {import("../training/divergence.js").Divergence} divergence */
const diverged = ({ from, to }) => t().status.diverged(loss(from), loss(to));

/** How much of a starting Python has arrived. */
function amount() {
  const { received = 0, total = 0, seconds = null } = store.bootProgress.value ?? {};
  if (received === 0 || received === total) return "";
  const words = t().status.arrived;
  const [some, all] = [received, total].map((bytes) => (bytes / 1e6).toFixed(1));
  if (total === 0) return words.some(some);
  return words.part(some, all, seconds === null ? "" : duration(Math.max(1, seconds)));
}

/** What a program waits for; data in whole megabytes. @param {import("../../engine/data-store.js").Awaited} awaited */
function loadingData({ set, received, total }) {
  if (set === "onnx") return t().status.loadingOnnx;
  if (set === "library") return t().status.loadingLibrary;
  const [some, all] = [Math.floor(received / 1e6), Math.ceil(total / 1e6)];
  if (set === "packages") return t().status.loadingPackages(some, all);
  /** @type {Record<string, string>} */
  const titles = t().blocks.data.sets;
  return t().status.loadingData(titles[set] ?? set, some, all);
}

/** @param {import("../../engine/messages.js").Fit} fit */
function place({ device, adapter }) {
  return kindOf(device)?.onCores ? t().status.cpu : (adapter ?? t().status.gpu);
}

export function StatusLine() {
  const hasEnded = store.status.value === "done" || store.status.value === "stopped";
  const status = hasEnded && store.divergence.value ? "diverged" : store.status.value;
  const said = news();
  return html`
    <div class="status-line">
      <span class="status" data-testid="status" data-status=${status}>${t().status.states[status]}</span>
      <${StatusSentence} text=${said || plainly()} isPlain=${!said} />
      ${
        store.noticeAction.value &&
        html`<button type="button" class="link notice-action" data-testid="notice-action"
        onClick=${store.noticeAction.value.act}>${store.noticeAction.value.label}</button>`
      }
      <${ContinueButton} />
      ${isWaiting() && html`<${Elapsed} />`}
    </div>
  `;
}

/** Goes on from the kept weights of a run that was stopped, or that the last visit left. */
function ContinueButton() {
  const kept = store.resumable.value;
  if (!kept) return null;
  const about = t().status.resume(kept.step, kept.totalSteps);
  return html`<span class="resume-offer" data-testid="resume-offer"><button type="button" class="button small" data-testid="resume"
    disabled=${!enabled.value.resume} aria-keyshortcuts="F8" title=${`${about}. ${t().status.resumeAbout}`}
    data-short=${t().status.resumeShort} aria-label=${about} onClick=${resume}><span class="resume-label">${about}</span></button></span>`;
}

/** Whether the user waits for something without a progress bar. */
const isWaiting = () =>
  store.engine.value === "starting" || (store.runState.value === "running" && !store.fit.value);

/** The seconds waited so far, if noticeable; hidden from screen readers, which it would interrupt. */
function Elapsed() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const since = performance.now();
    const timer = setInterval(() => setSeconds((performance.now() - since) / 1000), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    seconds > 2 &&
    html`<span class="hint elapsed" aria-hidden="true">${t().numbers.seconds(Math.floor(seconds))}</span>`
  );
}
