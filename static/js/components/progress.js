import { html } from "../../vendor/preact.js";
import { NONE, duration, loss, percent, rate } from "../format.js";
import { t } from "../locale.js";
import * as store from "../store.js";

/** Progress of the run, or of Python's download, in percent, as a whole number; null while the total is not known. */
function percentDone() {
  const { active, fit, progress, bootProgress } = store;
  if (store.engine.value === "starting") {
    const { received = 0, total = 0 } = bootProgress.value ?? {};
    return part(received, total);
  }
  const done = fit.value && part(progress.value.step, fit.value.total_steps);
  return done ?? (active.value ? null : 0);
}

/** @param {number} done @param {number} total 0 if it is not known */
const part = (done, total) => (total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : null);

/** The thin bar below the commands. */
export function ProgressBar() {
  const done = percentDone();
  const left = store.progress.value.eta;
  const text = done === null ? undefined : `${done}%`;
  return html`
    <div
      class="progress"
      role="progressbar"
      aria-label=${t().progress.label}
      aria-valuemin="0"
      aria-valuemax="100"
      aria-valuenow=${done ?? undefined}
      aria-valuetext=${done !== null && store.runState.value === "running" && left !== null ? t().progress.left(done, duration(left)) : text}
      data-testid="progress"
      data-unknown=${done === null ? "" : undefined}
    >
      <div class="progress-fill" style=${{ transform: `scaleX(${(done ?? 0) / 100})` }}></div>
      <span class="visually-hidden">${text}</span>
    </div>
  `;
}

/** The numbers that are always in sight. */
export function Statistics() {
  const fit = store.fit.value;
  const { epoch, step, loss: last, testAccuracy, eta } = store.progress.value;
  const words = t().progress;
  return html`
    <dl class="statistics">
      <${Statistic} label=${words.epoch} id="epoch" of=${fit && String(fit.epochs)}
        value=${fit ? String(epoch) : NONE} />
      <${Statistic} label=${words.step} id="step-count" of=${fit && String(fit.total_steps)}
        value=${fit ? String(step) : NONE} />
      <${Statistic} label=${words.loss} id="loss" value=${loss(last)} />
      <${Statistic} label=${words.testAccuracy} id="test-accuracy" value=${percent(testAccuracy)} strong />
      <${Statistic} label=${words.timeLeft} id="time-left"
        value=${store.runState.value === "running" ? duration(eta) : NONE} />
    </dl>
  `;
}

/** The numbers beside the curves. */
export function CurveStatistics() {
  const { accuracy, stepsPerSecond } = store.progress.value;
  return html`
    <dl class="statistics small">
      <${Statistic} label=${t().progress.batchAccuracy} id="accuracy" value=${percent(accuracy, 1)} />
      <${Statistic} label=${t().progress.rate} id="steps-per-second" value=${rate(stepsPerSecond)} />
    </dl>
  `;
}

/**
 * @param {{label: string, id: string, value: string, of?: string | null, strong?: boolean}} props
 *   `of`: the total
 */
function Statistic({ label, id, value, of, strong }) {
  return html`
    <div class=${strong ? "statistic strong" : "statistic"}>
      <dt>${label}</dt>
      <dd><span data-testid=${id}>${value}</span>${of && html`<span class="of"> / ${of}</span>`}</dd>
    </div>
  `;
}
