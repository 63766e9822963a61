import { html, useEffect, useState } from "../../vendor/preact.js";
import { resume } from "../actions.js";
import { missingFeature } from "../boot-features.js";
import { count, duration, loss } from "../format.js";
import { enabled } from "../shortcuts.js";
import * as store from "../store.js";

/** @type {Partial<Record<import("../store.js").Intent, string>>} */
const INTENTS = {
  pause: "Pausing after this batch…",
  resume: "Resuming…",
  stop: "Stopping…",
  reset: "Resetting…",
};

/** A sentence about the state of the run. */
function sentence() {
  const { engine, queuedRun, intent, notice, runState, startingDevices, fit, progress } = store;
  const about = fit.value;
  if (engine.value === "broken") {
    return missingFeature() ? "Nothing can run in this browser. See below the code." : "Python could not start.";
  }
  if (engine.value === "starting") {
    const stage = store.bootStage.value || "Starting Python";
    const before = notice.value ? `${notice.value} ` : "";
    return `${before}${stage}…${amount()}${queuedRun.value ? " Your run starts when it is ready." : ""}`;
  }
  if (intent.value && INTENTS[intent.value]) return INTENTS[intent.value];
  if (notice.value) return notice.value;
  if (store.source.value.trim() === "" && !store.active.value) return "There is no code to run.";
  if (store.deviceChoice.value === "gpu" && !store.active.value && store.gpu.value.problem) {
    return `Device GPU cannot be used: ${store.gpu.value.problem}. Choose Auto or CPU.`;
  }
  switch (runState.value) {
    case "running":
      if (startingDevices.value.length > 0) {
        return `Starting Python for ${startingDevices.value.join(", ")}…`;
      }
      if (!about) return "Running your code…";
      return `Training ${count(about.parameters)} parameters on ${place(about)}`;
    case "paused":
      return about ? "Paused. Step trains one batch." : "Paused before the first batch.";
    case "stopped":
      if (store.divergence.value) return `Stopped. ${diverged(store.divergence.value)}`;
      return store.kept.value ? "Stopped. The weights are kept." : "Stopped.";
    case "done":
      if (store.divergence.value) return diverged(store.divergence.value);
      if (!about) return "The code has finished.";
      return `Trained in ${duration(store.earlierSeconds.value + progress.value.seconds)}`;
    case "error":
      return "Something went wrong. See the error below the code.";
    default:
      return "Press Run to train the network.";
  }
}

/** @param {import("../divergence.js").Divergence} divergence */
const diverged = ({ from, to }) =>
  `The loss grew from ${loss(from)} to ${loss(to)}: the learning rate is probably too high.`;

/** How much of a starting Python has arrived. */
function amount() {
  const { received = 0, total = 0 } = store.bootProgress.value ?? {};
  if (received === 0 || received === total) return "";
  if (total === 0) return ` ${(received / 1e6).toFixed(1)} MB have arrived.`;
  return ` ${Math.floor((100 * received) / total)}% of ${Math.round(total / 1e6)} MB has arrived.`;
}

/** @param {import("../../engine/messages.js").Fit} fit */
function place({ device, adapter }) {
  return device.startsWith("cpu") ? "the CPU" : (adapter ?? "the GPU");
}

export function StatusLine() {
  const hasEnded = store.status.value === "done" || store.status.value === "stopped";
  const status = hasEnded && store.divergence.value ? "diverged" : store.status.value;
  return html`
    <div class="status-line">
      <span class="status" data-testid="status" data-status=${status}>${status}</span>
      <span class="status-sentence" role="status" data-testid="status-sentence">${sentence()}</span>
      ${store.noticeAction.value && html`<button type="button" class="link" data-testid="notice-action"
        onClick=${store.noticeAction.value.act}>${store.noticeAction.value.label}</button>`}
      <${ContinueButton} />
      ${isWaiting() && html`<${Elapsed} />`}
    </div>
  `;
}

/** Goes on from the kept weights of a run that was stopped, or that the last visit left. */
function ContinueButton() {
  const kept = store.resumable.value;
  if (!kept) return null;
  return html`<span class="resume-offer" data-testid="resume-offer"><button type="button" class="button small" data-testid="resume"
    disabled=${!enabled.value.resume} aria-keyshortcuts="F8" title="Continue training from the kept weights (F8)"
    onClick=${resume}>Continue from step ${count(kept.step)} of ${count(kept.totalSteps)}</button></span>`;
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
  return seconds > 2 && html`<span class="hint elapsed" aria-hidden="true">${Math.floor(seconds)} s</span>`;
}
