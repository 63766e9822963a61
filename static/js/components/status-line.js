import { html, useEffect, useState } from "../../vendor/preact.js";
import { missingFeature } from "../boot-features.js";
import { count, duration } from "../format.js";
import { describeResume } from "../session-notes.js";
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
      return store.kept.value ? `Stopped. The weights are kept. ${describeResume()}` : "Stopped.";
    case "done":
      return about ? `Trained in ${duration(progress.value.seconds)}` : "The code has finished.";
    case "error":
      return `Something went wrong. See the error below the code. ${describeResume()}`;
    default:
      return "Press Run to train the network.";
  }
}

/** How much of a starting Python has arrived. */
function amount() {
  const { received = 0, total = 0 } = store.bootProgress.value ?? {};
  if (total === 0 || received >= total) return "";
  return ` ${Math.floor((100 * received) / total)}% of ${Math.round(total / 1e6)} MB has arrived.`;
}

/** @param {import("../../engine/messages.js").Fit} fit */
function place({ device, adapter }) {
  return device.startsWith("cpu") ? "the CPU" : (adapter ?? "the GPU");
}

export function StatusLine() {
  const status = store.status.value;
  return html`
    <div class="status-line">
      <span class="status" data-testid="status" data-status=${status}>${status}</span>
      <span class="status-sentence" role="status">${sentence()}</span>
      ${store.noticeAction.value && html`<button type="button" class="link" data-testid="notice-action"
        onClick=${store.noticeAction.value.act}>${store.noticeAction.value.label}</button>`}
      ${isWaiting() && html`<${Elapsed} />`}
    </div>
  `;
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
