import { html, useRef, useState } from "../../../vendor/preact.js";
import { LossFigure } from "../../components/loss-figure.js";
import { SavePicture } from "../../components/save-picture-button.js";
import { offer } from "../../files/download.js";
import { edit, selectExample } from "../../gallery/examples.js";
import { takeLabSettings } from "../lab/lab-settings.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { register } from "../panels.js";
import { changesSince, csv, titleOf } from "./runs.js";
import { saveReport } from "./save-report.js";
import * as store from "../../state/store.js";
import { RunDiff } from "./run-diff.js";
import { RunsTable } from "./runs-table.js";

/** @typedef {import("./runs.js").Run} Run */

/** Runs whose curves are shown until the visitor chooses. */
const SHOWN_AT_FIRST = 4;

/** Every run that has trained: its curve, its numbers, its changes, and its code. */
function RunsPanel() {
  const runs = store.runs.value;
  const [hidden, setHidden] = useState(/** @type {Map<number, boolean>} */ (new Map()));
  const [open, setOpen] = useState(/** @type {number | null} */ (null));
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  const latest = new Set(runs.slice(-SHOWN_AT_FIRST));
  const isShown = (/** @type {Run} */ run) => !(hidden.get(run.id) ?? !latest.has(run));
  const chosen = runs.find(({ id }) => id === open);
  const words = t().runs;
  return html`
    <section class="panel runs" aria-labelledby="runs-title" ref=${panel}>
      <div class="panel-head">
        <h2 id="runs-title">${words.title}</h2>
        ${
          runs.length > 0 &&
          html`
          <${SavePicture} of=${() => panel.current?.querySelector(".loss-figure")} name="runs" what=${words.theComparison} id="runs" />`
        }
        <button type="button" class="button quiet small" data-testid="runs-report" disabled=${!runs.some(isShown)}
          title=${words.saveReportAbout} onClick=${() => saveReport(runs.filter(isShown))}>${words.saveReport}</button>
        <button type="button" class="button quiet small" data-testid="runs-csv" disabled=${runs.length === 0}
          onClick=${() => offer("runs.csv", new Blob([csv(runs)], { type: "text/csv" }))}>${words.saveCsv}</button>
        <button type="button" class="button quiet small" data-testid="runs-clear" disabled=${runs.every(({ isPinned }) => isPinned)}
          title=${words.clearAbout} onClick=${clear}>${words.clear}</button>
      </div>
      ${
        runs.length === 0
          ? html`<p class="lab-wait">${words.none}</p>`
          : html`
          <${LossFigure} curves=${runs.filter(isShown).map(curveOf)} />
          <${EloFigure} runs=${runs.filter(isShown)} />
          <${RunsTable} runs=${runs} open=${open} isShown=${isShown} onOpen=${setOpen}
            onShow=${(/** @type {Run} */ run) => setHidden(new Map(hidden).set(run.id, isShown(run)))}
            onReport=${(/** @type {Run} */ run) => saveReport([run])}
            changes=${(/** @type {Run} */ run) => changesSince(runs[runs.indexOf(run) - 1], run)} />
        `
      }
    </section>
    ${chosen && html`<${RunDiff} run=${chosen} before=${runs[runs.indexOf(chosen) - 1]} onRestore=${() => restore(chosen)} />`}
  `;
}

/** @param {Run} run */
function curveOf(run) {
  const { number, colour, loss, steps, losses } = run;
  return {
    name: String(number),
    title: t().runs.run(number, titleOf(run)),
    colour: `--series-${colour}`,
    loss,
    steps,
    losses,
  };
}

/** The ratings of those runs that trained a player by its own games. @param {{runs: Run[]}} props */
function EloFigure({ runs }) {
  const curves = runs.filter(({ elo }) => elo !== undefined).map(eloOf);
  return (
    curves.length > 0 &&
    html`<${LossFigure} curves=${curves} title=${t().curves.elo} digits=${format.elo} />`
  );
}

/** @param {Run} run */
function eloOf({ elo = 0, ratings = [], ...run }) {
  const [steps, losses] = [ratings.map(([step]) => step), ratings.map(([, each]) => each)];
  return curveOf({ ...run, loss: elo, steps, losses });
}

function clear() {
  store.runs.value = store.runs.value.filter(({ isPinned }) => isPinned);
}

/** Put the code and the settings of a run back; nothing runs. @param {Run} run */
function restore(run) {
  selectExample(run.exampleId);
  if (!edit(run.code)) return;
  store.deviceChoice.value = run.device;
  store.note(t().notes.restored(run.number));
  if (run.lab) takeLabSettings(run.lab);
}

register({
  name: "runs",
  order: 40,
  title: () => t().panels.runs,
  Panel: RunsPanel,
  outline: "M2 12.5h12V14H2zM2.5 8H5v3.5H2.5zM6.8 4.5h2.4v7H6.8zM11 2h2.5v9.5H11z",
});
