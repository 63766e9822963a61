import { html } from "../../vendor/preact.js";
import * as format from "../format.js";
import { comparison } from "../lab.js";
import { removeLabRun } from "../lab-runs.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";
import { LossFigure } from "./loss-figure.js";

/** @typedef {import("../types.js").LabRun} LabRun */

/** @param {LabRun} run */
const colourOf = ({ colour }) => `--series-${colour}`;

/** All runs of the Lab in one chart and one table. @param {{runs: LabRun[], shown: LabRun | null}} props */
export function LabCompare({ runs, shown }) {
  return html`
    <section class="panel lab-compare" aria-labelledby="lab-compare-title">
      <div class="panel-head">
        <h2 id="lab-compare-title">Comparison</h2>
        ${runs.length > 0 && html`<button type="button" class="button quiet small" data-testid="lab-clear"
          disabled=${store.active.value} onClick=${() => (store.labRuns.value = [])}>Clear</button>`}
      </div>
      ${runs.length === 0
        ? html`<p class="lab-wait">Each run in the Lab appears here, with its speed, waiting time and loss.</p>`
        : html`<${LossFigure} coincide curves=${runs.map(curveOf)} version=${store.curvesVersion.value} /><${Table} runs=${runs} shown=${shown} />`}
    </section>
  `;
}

/** The curve of a run; that of the current one grows in the training view. @param {LabRun} run */
function curveOf(run) {
  const { curves } = store;
  const isLive = run.state === "running" && run.steps.length === 0;
  const [steps, losses] = isLive ? [curves.steps, curves.series.trendLoss] : [run.steps, run.losses];
  return { name: String(run.id), title: run.title, colour: colourOf(run), loss: run.loss, steps, losses };
}

/** @param {{runs: LabRun[], shown: LabRun | null}} props */
function Table({ runs, shown }) {
  return html`
    <div class="tables lab-table" tabindex="0" role="region" aria-label="Runs compared">
      <table data-testid="lab-runs">
        <thead><tr>
          <th scope="col">Run</th><th scope="col">Devices</th><th scope="col">ms per step</th>
          <th scope="col"><abbr title="Speed relative to the last run of this program on one device">Speed-up</abbr></th>
          <th scope="col"><abbr title="Speed-up divided by the number of devices">Efficiency</abbr></th>
          <th scope="col">Waiting</th><th scope="col"><abbr title="Bytes between devices, per step">Moved</abbr></th><th scope="col">Loss</th>
          <th scope="col"><span class="visually-hidden">Remove</span></th>
        </tr></thead>
        <tbody>${runs.map((run) => html`
          <${Row} key=${run.id} run=${run} runs=${runs} isShown=${run === shown} />`)}</tbody>
      </table>
    </div>
  `;
}

/** @param {{run: LabRun, runs: LabRun[], isShown: boolean}} props */
function Row({ run, runs, isShown }) {
  const { speedup, efficiency } = comparison(run, runs);
  // If there are several programs, the first of consecutive runs of one program names it.
  const before = runs[runs.indexOf(run) - 1];
  const isMixed = runs.some(({ program }) => program !== run.program);
  const isNamed = isMixed && before?.program !== run.program;
  return html`
    <tr data-shown=${isShown ? "" : undefined} data-testid="lab-run-row">
      <th scope="row">
        <button type="button" class="lab-run-name" aria-pressed=${isShown} title="Show the timeline of this run"
          onClick=${() => (store.labShown.value = run.id)}>
          <span class="legend-line" style=${{ background: `var(${colourOf(run)})` }}></span>
          <span>${run.id} ${run.title}${run.state === "done" ? "" : ` (${run.state})`}
            ${isNamed && html`<small class="lab-run-program">${run.example}</small>`}</span>
        </button>
      </th>
      <td>${run.devices} ${run.device ?? ""}</td>
      <td>${run.msPerStep === null ? format.NONE : format.milliseconds(run.msPerStep)}</td>
      <td>${speedup === null ? format.NONE : `${format.times(speedup)} ×`}</td>
      <td>${format.percent(efficiency, 0)}</td>
      <td>${format.percent(run.trace?.timeline.bubble, 0)}</td>
      <td>${run.trace ? format.bytes(run.trace.timeline.bytes_moved / run.trace.steps) : format.NONE}</td>
      <td>${format.loss(run.loss)}</td>
      <td><button type="button" class="button quiet icon-only" aria-label=${`Remove run ${run.id}`}
        disabled=${run.state === "running"} onClick=${() => removeLabRun(run.id)}><${Icon} name="close" /></button></td>
    </tr>
  `;
}
