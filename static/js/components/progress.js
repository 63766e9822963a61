import { html } from "../../vendor/preact.js";
import { NONE, duration, loss, percent, rate } from "../words/format.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** A fit that ends after a time has as many epochs as there may be. */
const ENDLESS_EPOCHS = 1_000_000;
/** Whether it is known how many steps a fit has. @param {import("../../engine/messages.js").Fit | null} fit */
const hasEnd = (fit) => fit !== null && fit.epochs < ENDLESS_EPOCHS;

/** Progress of the run, or of Python's download, in percent, as a whole number; null while the total is not known. */
function percentDone() {
  const { active, fit, progress, bootProgress } = store;
  if (store.engine.value === "starting") {
    const { received = 0, total = 0 } = bootProgress.value ?? {};
    return part(received, total);
  }
  const total = hasEnd(fit.value) ? fit.value?.total_steps : 0;
  const done = fit.value && part(progress.value.step, total ?? 0);
  return done ?? (active.value ? null : 0);
}

/** @param {number} done @param {number} total 0 if it is not known */
const part = (done, total) => (total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : null);

/** The thin bar below the commands. */
export function ProgressBar() {
  const done = percentDone();
  const left = hasEnd(store.fit.value) ? store.progress.value.eta : null;
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
  const { epoch, step, eta } = store.progress.value;
  const words = t().progress;
  return html`
    <dl class="statistics">
      <${Headline} />
      <${Statistic} label=${words.epoch} id="epoch" of=${hasEnd(fit) && String(fit?.epochs)}
        value=${fit ? String(epoch) : NONE} />
      <${Statistic} label=${words.step} id="step-count" of=${hasEnd(fit) && String(fit?.total_steps)}
        value=${fit ? String(step) : NONE} />
      <${Statistic} label=${words.timeLeft} id="time-left"
        value=${store.runState.value === "running" && hasEnd(fit) ? duration(eta) : NONE} />
    </dl>
  `;
}

/**
 * The number that says how well the network does, by its name. The pointer and the focus show the others; without
 * either, screen readers have them, too.
 */
export function Headline() {
  const { loss: last, accuracy, testLoss, testAccuracy } = store.progress.value;
  const words = t().progress;
  const all = [
    {
      id: "test-accuracy",
      label: words.testAccuracy,
      value: testAccuracy,
      text: percent(testAccuracy),
    },
    { id: "test-loss", label: words.testLoss, value: testLoss, text: loss(testLoss) },
    { id: "batch-accuracy", label: words.batchAccuracy, value: accuracy, text: percent(accuracy) },
    { id: "loss", label: words.loss, value: last, text: loss(last) },
  ];
  const { id, label, text } = headlineOf(all);
  const leave = (/** @type {any} */ { key, currentTarget }) =>
    key === "Escape" && currentTarget.blur();
  return html`
    <div class="statistic strong headline">
      <dt>${label}</dt>
      <dd><div class="headline-number" tabindex="0" role="group" aria-label=${words.numbers} data-testid="headline" data-number=${id} onKeyDown=${leave}>
        <span aria-hidden="true">${text}</span>
        <dl class="headline-others">
          ${all.map((each) => html`<${Statistic} key=${each.id} id=${each.id} label=${each.label} value=${each.text} />`)}
        </dl>
      </div></dd>
    </div>
  `;
}

/**
 * The number to tell a friend: the first that there is.
 * @template {{id: string, value: number | null}} Named
 * @param {Named[]} all the best name first @returns {Named}
 */
export const headlineOf = (all) => all.find(({ value }) => value !== null) ?? all[0];

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
 * @param {{label: string, id: string, value: string, of?: string | false | null, strong?: boolean}} props
 *   `of`: the total
 */
function Statistic({ label, id, value, of, strong }) {
  return html`
    <div class=${strong ? "statistic strong" : "statistic"}>
      <dt>${label}</dt>
      <dd><span class="statistic-value" data-testid=${id} style=${of && { minWidth: `${of.length}ch` }}>${value}</span>${of && html`<span class="of"> / ${of}</span>`}</dd>
    </div>
  `;
}
