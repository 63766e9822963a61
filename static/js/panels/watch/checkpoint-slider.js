import { html } from "../../../vendor/preact.js";
import { branchOff, lookAt } from "../../state/actions.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { lossAt, places } from "../../session/checkpoint-ring.js";
import * as store from "../../state/store.js";

/** A slider along the checkpoints of the curve: the page shows all as it was there, and training can branch off. */
export function CheckpointSlider() {
  const isRunning = store.runState.value === "running" || store.queuedRun.value !== null;
  // While a network trains, nothing here follows it: the slider waits.
  const end = (isRunning ? store.progress.peek() : store.progress.value).step;
  const all = places(store.checkpoints.value, end);
  if (!store.fit.value || all.length < 2) return null;
  const past = store.past.value;
  const at = past ? all.indexOf(past) : all.length - 1;
  const words = t().undo;
  const place = isRunning ? words.whileRunning : placeInWords(past?.step ?? end);
  return html`
    <div class="checkpoint-slider" role="group" aria-label=${words.title} data-past=${past ? "" : undefined}>
      <label for="checkpoint-slider">${words.title}</label>
      <input type="range" id="checkpoint-slider" data-testid="checkpoint-slider" min="0" max=${all.length - 1} step="1"
        value=${at < 0 ? all.length - 1 : at} disabled=${isRunning} title=${isRunning ? words.whileRunning : words.about}
        aria-valuetext=${place} onInput=${(/** @type {any} */ { target }) => lookAt(all[Number(target.value)] ?? null)} />
      <output for="checkpoint-slider" data-testid="checkpoint-place">${place}</output>
      <button type="button" class="button small" data-testid="branch" disabled=${!past || isRunning}
        title=${past ? words.branchAbout : words.branchWhere} onClick=${branchOff}>${words.branch}</button>
    </div>
  `;
}

/** Show the place that is nearest to a step, unless the network trains. @param {number} step */
export function showNearest(step) {
  if (store.runState.value === "running" || store.queuedRun.value) return;
  const all = places(store.checkpoints.value, store.progress.value.step);
  if (!store.fit.value || all.length < 2) return;
  const ends = all.map((each) => each?.step ?? store.progress.value.step);
  const distances = ends.map((end) => Math.abs(end - step));
  lookAt(all[distances.indexOf(Math.min(...distances))] ?? null);
}

/** "Step 412 of 1,000, trend 0.31": the curve of that name. @param {number} step */
function placeInWords(step) {
  const loss = lossAt(store.curves, step);
  return t().undo.place(
    step,
    store.fit.value?.total_steps ?? 0,
    loss === null ? "" : format.loss(loss),
  );
}
