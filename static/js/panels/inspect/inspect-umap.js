import { html, signal, useMemo, useState } from "../../../vendor/preact.js";
import { percent } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { floats } from "../../training/task.js";
import { ProjectedPoints } from "./projected-points.js";
import { useUmap } from "./umap.js";

/** @import { PointsView, Samples } from "./sample-cache.js" */

const NEIGHBOURS = [5, 15, 30, 100];
/** They outlive the view. */
const neighbours = signal(15);
const seed = signal(0);

/**
 * The samples in a plane that keeps neighbours together. It takes seconds, so it shows the values at its
 * beginning; while the network learns, newer values are taken on request.
 * @param {{view: PointsView, samples: Samples}} newest
 */
export function UmapPoints(newest) {
  const [taken, setTaken] = useState(newest);
  const { view, samples } = taken;
  const rows = useMemo(() => floats(view.rows), [view]);
  const values = useMemo(() => floats(view.points), [view]);
  const words = t().inspectProjection;
  return html`
    <div class="projection-controls">
      <label class="toggle">${words.neighbours} <select data-testid="umap-neighbours" value=${neighbours.value}
        onChange=${(/** @type {Event} */ event) => (neighbours.value = Number(/** @type {HTMLSelectElement} */ (event.target).value))}>
        ${NEIGHBOURS.map((each) => html`<option key=${each} value=${each} selected=${each === neighbours.value}>${each}</option>`)}
      </select></label>
      <button type="button" class="button small" data-testid="umap-another" title=${words.anotherAbout}
        onClick=${() => (seed.value += 1)}>${words.another}</button>
      ${
        !isSame(view, newest.view) &&
        html`<span class="umap-stale" role="status">${words.stale}
        ${" "}<button type="button" class="button small" data-testid="umap-update" onClick=${() => setTaken(newest)}>${words.update}</button></span>`
      }
    </div>
    ${
      rows.length < 2
        ? html`<p class="hint" data-testid="projection-none">${words.tooFew(rows.length, view.projected)}</p>`
        : html`<${Layout} view=${view} samples=${samples} rows=${rows} values=${values} />`
    }
  `;
}

/** @param {{view: PointsView, samples: Samples, rows: Float32Array, values: Float32Array}} props */
function Layout({ view, samples, rows, values }) {
  const question = {
    values,
    dimensions: view.dimensions,
    neighbours: neighbours.value,
    seed: seed.value,
  };
  const { part, points, problem, isCancelled, cancel, again } = useUmap(question);
  const placed = useMemo(() => points && { rows, points }, [rows, points]);
  const words = t().inspectProjection;
  const about = words.umap(
    view.dimensions,
    percent(
      view.explained.reduce((sum, each) => sum + each, 0),
      1,
    ),
  );
  if (placed)
    return html`<${ProjectedPoints} view=${view} samples=${samples} placed=${placed} about=${about} />`;
  if (isCancelled || problem) {
    return html`<p class="umap-progress" role="status" data-testid="umap-stopped">${problem ? words.umapFailed(problem) : words.cancelled}
      <button type="button" class="button small" data-testid="umap-again" onClick=${again}>${words.compute}</button></p>`;
  }
  return html`
    <p class="umap-progress" data-testid="umap-progress">
      <label>${words.computing} <progress max="1" value=${part}></progress></label>
      <button type="button" class="button small" data-testid="umap-cancel" onClick=${cancel}>${words.cancel}</button>
    </p>
  `;
}

/** Whether two answers are about the same values. @param {PointsView} one @param {PointsView} other */
const isSame = (one, other) =>
  one === other ||
  (one.points.length === other.points.length &&
    one.points.every((byte, at) => byte === other.points[at]));
