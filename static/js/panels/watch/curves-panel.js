import { html, useMemo, useRef, useState } from "../../../vendor/preact.js";
import { Chart } from "../../components/chart.js";
import { CurveStatistics } from "../../components/progress.js";
import { Icon } from "../../components/icons.js";
import { SavePicture } from "../../components/save-picture-button.js";
import { smoothed } from "../../pictures/curves.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { changeInWords, changeNear } from "../../state/setting-changes.js";
import { recall, remember } from "../../state/storage.js";
import * as store from "../../state/store.js";
import { useCurvesVersion } from "../../training/use-training.js";
import { isWatching } from "../../watching/watched.js";
import { CurvesTable } from "./curves-table.js";
import { LazyCheckpointSlider, showNearest } from "./lazy-checkpoint-slider.js";

/** @typedef {import("../../components/chart.js").Line} Line */
/** @typedef {import("../../pictures/curves.js").SeriesName} SeriesName */
/** @typedef {Line & {series: SeriesName, label: keyof ReturnType<typeof t>["curves"]["lines"]}} CurveLine */

/** Of a chart, in pixels: beside the main picture, and when the visitor asks for more. */
const [SMALL, LARGE] = [96, 220];
/** Changes of settings that are told above the curves. */
const MOST_NAMED = 3;

/** @type {CurveLine[]} */
const LOSS = [
  { series: "loss", label: "batch", colour: "--loss-faint", width: 1 },
  { series: "trendLoss", label: "trend", colour: "--loss", width: 2 },
  { series: "testLoss", label: "test", colour: "--test", width: 1.5, isMark: true },
];
/** @type {CurveLine[]} */
const ACCURACY = [
  { series: "accuracy", label: "batch", colour: "--accuracy-faint", width: 1 },
  { series: "trendAccuracy", label: "trend", colour: "--accuracy", width: 2 },
  { series: "testAccuracy", label: "test", colour: "--test", width: 1.5, isMark: true },
];

/** @type {CurveLine[]} */
const ELO = [{ series: "elo", label: "elo", colour: "--test", width: 1.5, isMark: true }];

/** The values behind each trend. @type {Record<string, SeriesName>} */
const RAW = { trendLoss: "loss", trendAccuracy: "accuracy" };
/** The trend: a moving average of its own kind, or one with a fixed part of the value before. */
const SMOOTHINGS = ["auto", "0", "0.5", "0.8", "0.9", "0.95"];

/** Live curves of loss and accuracy, whose steps can be looked back at. They are small, to leave room for the main picture. */
export function CurvesPanel() {
  const [log, setLog] = useState(recall("log-scale") === "yes");
  const [smoothing, setSmoothing] = useState(known(recall("smoothing")));
  const [asTable, setAsTable] = useState(false);
  const [isLarge, setLarge] = useState(isWatching); // there is nothing else in the panel
  const charts = useRef(/** @type {HTMLElement | null} */ (null));

  function onLog() {
    setLog(!log);
    remember("log-scale", log ? null : "yes");
  }

  /** @param {Event} event */
  function onSmooth(event) {
    const { value } = /** @type {HTMLSelectElement} */ (event.target);
    setSmoothing(value);
    remember("smoothing", value);
  }

  const words = t().curves;
  const height = isLarge ? LARGE : SMALL;
  /** @type {Record<string, string>} */
  const smoothings = { auto: words.smoothings.auto, 0: words.smoothings.none };
  return html`
    <section class="panel curves" data-large=${isLarge ? "" : undefined} aria-labelledby="curves-title">
      <div class="panel-head">
        <h2 id="curves-title">${words.title}</h2>
        <${SettingChanges} />
        <${CurveStatistics} />
        <button type="button" class="button quiet icon-only" data-testid="curves-larger" aria-expanded=${isLarge} aria-label=${words.larger}
          title=${words.larger} onClick=${() => setLarge(!isLarge)}><${Icon} name=${isLarge ? "down" : "up"} /></button>
      </div>
      ${
        isLarge &&
        html`<div class="curve-foot">
        <label class="toggle">${words.smoothing}
          <select data-testid="smoothing" value=${smoothing} onChange=${onSmooth}>
            ${SMOOTHINGS.map(
              (each) => html`
              <option key=${each} value=${each} selected=${each === smoothing}>${smoothings[each] ?? each}</option>
            `,
            )}
          </select>
        </label>
        <label class="toggle"><input type="checkbox" checked=${log} data-testid="log-scale"
          onChange=${onLog} />${words.logScale}</label>
        <label class="toggle"><input type="checkbox" checked=${asTable} data-testid="curves-as-table"
          onChange=${() => setAsTable(!asTable)} />${words.asTable}</label>
        ${!asTable && html`<${SavePicture} of=${() => charts.current} name="curves" what=${words.theCurves} id="curves" />`}
      </div>`
      }
      ${
        asTable && isLarge
          ? html`<${CurvesTable} />`
          : html`
        <div class="charts" ref=${charts}>
          <${Figure} title=${words.loss} lines=${LOSS} height=${height} smoothing=${smoothing} log=${log} digits=${format.loss} ticks=${format.tick} />
          <${AccuracyAndElo} height=${height} smoothing=${smoothing} />
        </div>
      `
      }
      <div class="checkpoint-slider-place"><${LazyCheckpointSlider} /></div>
    </section>
  `;
}

/**
 * The accuracy, and the ratings of a player that learns from its own games once there are some: in its place if the
 * program measures none.
 * @param {{height: number, smoothing: string}} props
 */
function AccuracyAndElo(props) {
  useCurvesVersion();
  const words = t().curves;
  const { ratings, series } = store.curves;
  const isRated = ratings.length > 0;
  const isMeasured = [series.accuracy, series.testAccuracy].some(
    (column) => lastOf(column) !== null,
  );
  return html`
    ${(isMeasured || !isRated) && html`<${Figure} key="accuracy" title=${words.accuracy} lines=${ACCURACY} digits=${percent} ticks=${wholePercent} unit ...${props} />`}
    ${isRated && html`<${Figure} key="elo" title=${words.elo} lines=${ELO} digits=${format.elo} ticks=${wholeNumber} ...${props} />`}
  `;
}

/** The curve of the loss alone. */
export const LossCurve = () =>
  html`<${Figure} title=${t().curves.loss} lines=${LOSS} height=${SMALL} smoothing="auto" digits=${format.loss} ticks=${format.tick} />`;

/** What was changed while training, in words: the marks on the curves. */
function SettingChanges() {
  const changes = store.settingChanges.value;
  if (changes.length === 0) return null;
  const hidden = changes.length - MOST_NAMED;
  return html`
    <p class="curve-changes" data-testid="setting-changes" title=${changes.map(changeInWords).join("\n")}>
      ${hidden > 0 && html`<span>${t().curves.earlierChanges(hidden)}</span>`}
      ${changes.slice(-MOST_NAMED).map((change, at) => html`<span key=${at}><span aria-hidden="true">▾ </span>${changeInWords(change)}</span>`)}
    </p>
  `;
}

/** @param {string | null} smoothing as it was remembered */
const known = (smoothing) => (smoothing && SMOOTHINGS.includes(smoothing) ? smoothing : "auto");

/**
 * @param {{title: string, lines: CurveLine[], height: number, smoothing: string, log?: boolean, unit?: boolean,
 *          digits: (value: number | null) => string, ticks: (value: number) => string}} props
 *   `unit`: the values lie between 0 and 1
 */
function Figure({ title, lines, height, smoothing, log, unit, digits, ticks }) {
  const version = useCurvesVersion();
  const [hovered, setHovered] = useState(/** @type {number | null} */ (null));
  const { curves } = store;
  const columns = useMemo(
    () =>
      lines.map(({ series }) =>
        series in RAW && smoothing !== "auto"
          ? smoothed(curves.series[RAW[series]], Number(smoothing))
          : curves.series[series],
      ),
    [version, smoothing],
  );
  const changes = store.settingChanges.value;
  const at = store.past.value?.step;
  const data = useMemo(
    () => [curves.steps, ...(log ? columns.map(positive) : columns)],
    [columns, log, changes, at],
  );
  const empty = curves.steps.length === 0;
  const shown = columns.map((column) =>
    hovered === null ? lastOf(column) : (column[hovered] ?? null),
  );
  const near = hovered === null ? undefined : changeNear(changes, curves.steps, hovered);
  const words = t().curves;
  const summary = t().numbers.list(
    lines.map(({ label }, i) => `${words.lines[label]} ${digits(lastOf(columns[i]))}`),
  );
  return html`
    <figure class="figure">
      <figcaption>
        <strong>${hovered === null ? title : words.step(curves.steps[hovered])}</strong>
        ${lines.map(
          ({ label, colour }, index) => html`
          <span class=${`legend-entry ${label}`} key=${label}>
            <span class="legend-line" style=${{ background: `var(${colour})` }}></span>${words.lines[label]}
            ${" "}<b>${digits(shown[index])}</b>
          </span>
        `,
        )}
      </figcaption>
      <div class="figure-body">
        <${Chart} data=${data} lines=${lines} version=${data} height=${height} log=${log}
          marks=${changes.map(({ step }) => step)} at=${at} format=${ticks} range=${unit ? [0, 1] : undefined} onHover=${setHovered}
          onPick=${(/** @type {number} */ index) => showNearest(curves.steps[index])}
          label=${words.summary(title, empty ? words.noData : summary)} />
        ${near && html`<p class="curve-near" data-no-picture>${changeInWords(near)}</p>`}
        ${empty && html`<p class="figure-empty">${words.waiting}</p>`}
        ${
          !empty &&
          unit &&
          columns.every((column) => lastOf(column) === null) &&
          html`<p class="figure-empty">${words.noAccuracy}</p>`
        }
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
const wholeNumber = (value) => String(Math.round(value));
/** @param {number} value */
const wholePercent = (value) => `${Math.round(value * 100)}%`;
