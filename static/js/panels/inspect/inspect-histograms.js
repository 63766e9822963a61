import { html, useEffect, useMemo, useState } from "../../../vendor/preact.js";
import { Chart } from "../../components/chart.js";
import { histograms } from "../../engine/questions.js";
import { count, tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { HistogramRidge, short } from "./histogram-ridge.js";
import { useView } from "./use-view.js";

/** @import { HistogramView, LayerHistograms } from "../../../engine/messages.js" */

const CHART_HEIGHT = 130;
const COLOURS = 8;
/** The update ratio of a training that goes well, as a rule of thumb. */
const GUIDELINE = 1e-3;

/** The histograms of all layers over the steps that were recorded. */
export function HistogramsView() {
  const [round, setRound] = useState(0);
  const { answer, problem } = useView(histograms, [round]);
  const [asTable, setAsTable] = useState(false);
  // What is past is computed bit by bit, while the network rests; in a training the next answer follows anyway.
  const isMore = Boolean(answer?.pending) && store.runState.value !== "running";
  useEffect(() => {
    if (isMore) setRound((before) => before + 1);
  }, [answer, isMore]);
  const words = t().inspectHistograms;
  if (problem) return html`<p class="hint histograms-note" data-testid="histograms">${problem}</p>`;
  if (!answer)
    return html`<p class="hint histograms-note" role="status" data-testid="histograms">${words.asking}</p>`;
  if (answer.reason)
    return html`<p class="hint histograms-note" data-testid="histograms">${words.reasons[answer.reason]}</p>`;
  const { steps, layers, left_out: leftOut } = answer;
  return html`
    <div class="histograms" data-testid="histograms" data-records=${steps.length}>
      <div class="histograms-head">
        <p class="hint">${t().numbers.sentences([words.about, words.recording])}</p>
        <button type="button" class="button quiet small" aria-pressed=${asTable} data-testid="histograms-table"
          onClick=${() => setAsTable(!asTable)}>${words.table}</button>
      </div>
      <p class="hint" data-testid="histograms-missed">${missed(steps)}</p>
      ${
        asTable
          ? html`<${Table} view=${answer} />`
          : html`
        <${Courses} view=${answer} />
        ${layers.map(
          (layer) => html`
          <section key=${layer.name} aria-label=${layer.name} data-testid="histograms-layer">
            <h3>${layer.name}</h3>
            <div class="ridges">
              ${layer.series.map((series) => html`<${HistogramRidge} key=${series.kind} series=${series} layer=${layer.name} />`)}
            </div>
          </section>
        `,
        )}
      `
      }
      ${leftOut > 0 && html`<p class="hint">${words.leftOut(leftOut)}</p>`}
    </div>
  `;
}

/** Why there is nothing from before the first record. @param {number[]} steps */
function missed([first, ...more]) {
  if (!first) return "";
  const words = t().inspectHistograms;
  return more.length ? words.missed(count(first)) : words.alone(count(first));
}

/** Update ratios and mean sizes of the layers with weights. @param {{view: HistogramView}} props */
function Courses({ view }) {
  const words = t().inspectHistograms;
  const known = view.layers.filter(({ series }) => series.some(({ kind }) => kind === "weights"));
  const ratios = known.map((layer) => layer.ratios.map((value) => value || null));
  const sizes = known.map((layer) => sizesOf(layer, view.steps));
  const hasRatios = ratios.some((values) => values.some((value) => value !== null));
  if (!known.length) return null;
  return html`
    <div class="histogram-courses">
      ${
        hasRatios &&
        html`<${Course} title=${words.ratios} names=${known.map(({ name }) => name)} steps=${view.steps} values=${ratios}
        guideline id="ratios" about=${words.ratiosAbout} />`
      }
      ${
        view.steps.length > 1 &&
        html`<${Course} title=${words.sizes} names=${known.map(({ name }) => name)} steps=${view.steps}
        values=${sizes} id="sizes" />`
      }
    </div>
  `;
}

/** Mean sizes of the weights at all steps. @param {LayerHistograms} layer @param {number[]} steps */
function sizesOf({ series }, steps) {
  const weights = series.find(({ kind }) => kind === "weights");
  return steps.map((step) => weights?.sizes[weights.steps.indexOf(step)] ?? null);
}

/**
 * A number of each layer over the steps.
 * @param {{title: string, names: string[], steps: number[], values: (number | null)[][], guideline?: boolean, id: string,
 *          about?: string}} props `guideline`: whether to mark the usual update ratio, on a logarithmic scale
 */
function Course({ title, names, steps, values, guideline, id, about }) {
  const [hovered, setHovered] = useState(/** @type {number | null} */ (null));
  const words = t().inspectHistograms;
  const key = names.join();
  const lines = useMemo(
    () => [
      ...names.map((label, at) => ({ label, colour: `--series-${at % COLOURS}`, width: 1.5 })),
      ...(guideline
        ? [{ label: words.guideline, colour: "--muted", width: 1, isDashed: true }]
        : []),
    ],
    [key, words],
  );
  const data = /** @type {any} */ ([
    steps,
    ...values,
    ...(guideline ? [steps.map(() => GUIDELINE)] : []),
  ]);
  const shown = (/** @type {number} */ at) =>
    short(values[at][hovered ?? steps.length - 1] ?? lastOf(values[at]));
  const summary = t().numbers.clauses(names.map((name, at) => `${name} ${shown(at)}`));
  return html`
    <figure class="figure" data-testid=${`histograms-${id}`}>
      <figcaption><strong>${hovered === null ? title : words.at(title, count(steps[hovered]))}</strong>
        ${names.map(
          (name, at) => html`<span class="legend-entry" key=${name}>
          <span class="legend-line" style=${{ background: `var(--series-${at % COLOURS})` }}></span>${name} <b>${shown(at)}</b></span>`,
        )}
      </figcaption>
      <div class="figure-body"><${Chart} key=${key} data=${data} lines=${lines} version=${data} height=${CHART_HEIGHT}
        log=${guideline} format=${tick} onHover=${setHovered} label=${t().curves.summary(title, summary)} /></div>
      ${about && html`<p class="hint">${about}</p>`}
    </figure>
  `;
}

/** The last number that is known. @param {(number | null)[]} values */
const lastOf = (values) => values.filter((value) => value !== null).at(-1) ?? null;

/** All numbers but the counts. @param {{view: HistogramView}} props */
function Table({ view }) {
  const { columns, kinds, table } = t().inspectHistograms;
  const rows = view.layers.flatMap((layer) =>
    layer.series.flatMap((series) =>
      series.steps.map((step, at) => ({
        layer: layer.name,
        kind: kinds[series.kind],
        step,
        size: series.sizes[at],
        spread: series.spreads[at],
        strays: series.strays[at],
        ratio: series.kind === "weights" ? layer.ratios[view.steps.indexOf(step)] : null,
      })),
    ),
  );
  return html`
    <div class="tables" tabindex="0" role="region" aria-label=${table}>
      <table>
        <thead><tr>${[
          columns.layer,
          columns.kind,
          columns.step,
          columns.size,
          columns.spread,
          columns.strays,
          columns.ratio,
        ].map((name) => html`<th scope="col" key=${name}>${name}</th>`)}</tr></thead>
        <tbody>${rows.map(
          (row) => html`<tr key=${`${row.layer} ${row.kind} ${row.step}`}>
          <td>${row.layer}</td><td>${row.kind}</td><td>${count(row.step)}</td><td>${short(row.size)}</td><td>${short(row.spread)}</td>
          <td>${count(row.strays)}</td><td>${short(row.ratio)}</td></tr>`,
        )}</tbody>
      </table>
    </div>
  `;
}
