import { html } from "../../../vendor/preact.js";
import { Icon } from "../../components/icons.js";
import { LossFigure } from "../../components/loss-figure.js";
import * as format from "../../words/format.js";
import { EDITED, removeLabRun } from "./lab-runs.js";
import { comparison } from "./lab.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { useCurvesVersion } from "../../training/use-training.js";

/** @typedef {import("../../state/types.js").LabRun} LabRun */

/** @param {LabRun} run */
const colourOf = ({ colour }) => `--series-${colour}`;

/** All runs of the Lab in one chart and one table. @param {{runs: LabRun[], shown: LabRun | null}} props */
export function LabCompare({ runs, shown }) {
  const version = useCurvesVersion();
  const words = t().lab.compare;
  return html`
    <section class="panel lab-compare" aria-labelledby="lab-compare-title">
      <div class="panel-head">
        <h2 id="lab-compare-title">${words.title}</h2>
        ${
          runs.length > 0 &&
          html`<button type="button" class="button quiet small" data-testid="lab-clear"
          disabled=${store.active.value} onClick=${() => (store.labRuns.value = [])}>${words.clear}</button>`
        }
      </div>
      ${
        runs.length === 0
          ? html`<p class="lab-wait">${words.empty}</p>`
          : html`<${LossFigure} coincide curves=${runs.map(curveOf)} version=${version} /><${Table} runs=${runs} shown=${shown} />`
      }
    </section>
  `;
}

/** The curve of a run; that of the current one grows in the training view. @param {LabRun} run */
function curveOf(run) {
  const { curves } = store;
  const isLive = run.state === "running" && run.steps.length === 0;
  const [steps, losses] = isLive
    ? [curves.steps, curves.series.trendLoss]
    : [run.steps, run.losses];
  return {
    name: String(run.id),
    title: t().lab.titled(run.title),
    colour: colourOf(run),
    loss: run.loss,
    steps,
    losses,
  };
}

/** @param {{runs: LabRun[], shown: LabRun | null}} props */
function Table({ runs, shown }) {
  const { columns, abouts, label } = t().lab.compare;
  return html`
    <div class="tables lab-table" tabindex="0" role="region" aria-label=${label}>
      <table data-testid="lab-runs">
        <thead><tr>
          <th scope="col">${columns.run}</th><th scope="col">${columns.devices}</th><th scope="col">${columns.msPerStep}</th>
          <th scope="col"><abbr title=${abouts.speedup}>${columns.speedup}</abbr></th>
          <th scope="col"><abbr title=${abouts.efficiency}>${columns.efficiency}</abbr></th>
          <th scope="col">${columns.waiting}</th><th scope="col"><abbr title=${abouts.moved}>${columns.moved}</abbr></th><th scope="col">${columns.loss}</th>
          <th scope="col"><span class="visually-hidden">${columns.remove}</span></th>
        </tr></thead>
        <tbody>${runs.map(
          (run) => html`
          <${Row} key=${run.id} run=${run} runs=${runs} isShown=${run === shown} />`,
        )}</tbody>
      </table>
    </div>
  `;
}

/** @param {{run: LabRun, runs: LabRun[], isShown: boolean}} props */
function Row({ run, runs, isShown }) {
  const words = t().lab.compare;
  const { speedup, efficiency } = comparison(run, runs);
  // If there are several programs, the first of consecutive runs of one program names it.
  const before = runs[runs.indexOf(run) - 1];
  const isMixed = runs.some(({ program }) => program !== run.program);
  const isNamed = isMixed && before?.program !== run.program;
  return html`
    <tr data-shown=${isShown ? "" : undefined} data-testid="lab-run-row">
      <th scope="row">
        <button type="button" class="lab-run-name" aria-pressed=${isShown} title=${words.show}
          onClick=${() => (store.labShown.value = run.id)}>
          <span class="legend-line" style=${{ background: `var(${colourOf(run)})` }}></span>
          <span>${run.id} ${titleOf(run)}
            ${isNamed && html`<small class="lab-run-program">${exampleOf(run)}</small>`}</span>
        </button>
      </th>
      <td>${run.devices} ${run.device ?? ""}</td>
      <td>${run.msPerStep === null ? format.NONE : format.milliseconds(run.msPerStep)}</td>
      <td>${speedup === null ? format.NONE : `${format.times(speedup)} ×`}</td>
      <td>${format.percent(efficiency, 0)}</td>
      <td>${format.percent(run.trace?.timeline.bubble, 0)}</td>
      <td>${run.trace ? format.bytes(run.trace.timeline.bytes_moved / run.trace.steps) : format.NONE}</td>
      <td>${format.loss(run.loss)}</td>
      <td><button type="button" class="button quiet icon-only" aria-label=${words.remove(run.id)}
        disabled=${run.state === "running"} onClick=${() => removeLabRun(run.id)}><${Icon} name="close" /></button></td>
    </tr>
  `;
}

/** The title, with the state of a run that is not done. @param {LabRun} run */
function titleOf({ title, state }) {
  const { titled, compare, states } = t().lab;
  if (state === "done") return titled(title);
  return compare.inState(
    titled(title),
    /** @type {Record<string, string>} */ (states)[state] ?? state,
  );
}

/** @param {LabRun} run */
const exampleOf = ({ example }) =>
  example.endsWith(EDITED) ? t().lab.compare.edited(example.slice(0, -EDITED.length)) : example;
