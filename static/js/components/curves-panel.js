import { html, useMemo, useState } from "../../vendor/preact.js";
import * as format from "../format.js";
import * as store from "../store.js";
import { Chart } from "./chart.js";
import { CurvesTable } from "./curves-table.js";

/** @typedef {import("./chart.js").Line} Line */
/** @typedef {import("../curves.js").SeriesName} SeriesName */

const HEIGHT = 190;

/** @type {(Line & {series: SeriesName})[]} */
const LOSS = [
  { series: "loss", label: "batch", colour: "--loss-faint", width: 1 },
  { series: "trendLoss", label: "trend", colour: "--loss", width: 2 },
  { series: "testLoss", label: "test", colour: "--test", width: 1.5, isMark: true },
];
/** @type {(Line & {series: SeriesName})[]} */
const ACCURACY = [
  { series: "accuracy", label: "batch", colour: "--accuracy-faint", width: 1 },
  { series: "trendAccuracy", label: "trend", colour: "--accuracy", width: 2 },
  { series: "testAccuracy", label: "test", colour: "--test", width: 1.5, isMark: true },
];

/** Live curves of loss and accuracy. */
export function CurvesPanel() {
  const [log, setLog] = useState(false);
  const [asTable, setAsTable] = useState(false);
  return html`
    <section class="panel curves" aria-labelledby="curves-title">
      <div class="panel-head">
        <h2 id="curves-title">Curves</h2>
        <label class="toggle"><input type="checkbox" checked=${log} data-testid="log-scale"
          onChange=${() => setLog(!log)} />Log scale</label>
        <label class="toggle"><input type="checkbox" checked=${asTable} data-testid="curves-as-table"
          onChange=${() => setAsTable(!asTable)} />Table</label>
      </div>
      ${asTable ? html`<${CurvesTable} />` : html`
        <div class="charts">
          <${Figure} title="Loss" lines=${LOSS} log=${log} digits=${format.loss} ticks=${lossTick} />
          <${Figure} title="Accuracy" lines=${ACCURACY} digits=${percent} ticks=${wholePercent} unit />
        </div>
      `}
    </section>
  `;
}

/**
 * @param {{title: string, lines: (Line & {series: SeriesName})[], log?: boolean, unit?: boolean,
 *          digits: (value: number | null) => string, ticks: (value: number) => string}} props
 *   `unit`: the values lie between 0 and 1
 */
function Figure({ title, lines, log, unit, digits, ticks }) {
  const version = store.curvesVersion.value;
  const [hovered, setHovered] = useState(/** @type {number | null} */ (null));
  const { curves } = store;
  const columns = lines.map(({ series }) => curves.series[series]);
  const data = useMemo(
    () => [curves.steps, ...(log ? columns.map(positive) : columns)],
    [version, log],
  );
  const empty = curves.steps.length === 0;
  const shown = columns.map((column) =>
    hovered === null ? lastOf(column) : (column[hovered] ?? null));
  const summary = lines.map(({ label }, i) => `${label} ${digits(lastOf(columns[i]))}`).join(", ");
  return html`
    <figure class="figure">
      <figcaption>
        <strong>${hovered === null ? title : `Step ${curves.steps[hovered]}`}</strong>
        ${lines.map(({ label, colour }, index) => html`
          <span class=${`legend-entry ${label}`} key=${label}>
            <span class="legend-line" style=${{ background: `var(${colour})` }}></span>${label}
            ${" "}<b>${digits(shown[index])}</b>
          </span>
        `)}
      </figcaption>
      <div class="figure-body">
        <${Chart} data=${data} lines=${lines} version=${version} height=${HEIGHT} log=${log}
          format=${ticks} range=${unit ? [0, 1] : undefined} onHover=${setHovered}
          label=${`${title} by step: ${empty ? "no data yet" : summary}`} />
        ${empty && html`<p class="figure-empty">The curve appears when training starts.</p>`}
      </div>
    </figure>
  `;
}

/** A logarithm needs values above zero. @param {(number | null)[]} column */
const positive = (column) => column.map((value) => (value !== null && value > 0 ? value : null));

/** @param {(number | null)[]} column */
function lastOf(column) {
  for (let index = column.length - 1; index >= 0; index -= 1) {
    if (column[index] !== null) return column[index];
  }
  return null;
}

/** @param {number | null} value */
const percent = (value) => format.percent(value, 1);
/** @param {number} value */
const wholePercent = (value) => `${Math.round(value * 100)}%`;
/** @param {number} value */
const lossTick = (value) => String(Number(value.toPrecision(3)));
