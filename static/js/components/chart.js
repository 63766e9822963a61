import { html, useEffect, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { uPlot } from "../../vendor/uplot.js";
import { language, t } from "../words/locale.js";
import { onResize, onVisible } from "../training/observe.js";
import { cssColour, theme } from "../frame/theme.js";

/**
 * @typedef {{label: string, colour: string, width: number, isMark?: boolean, isDashed?: boolean}} Line
 *   `colour`: a CSS custom property; `isMark`: few points, drawn as points
 */

/** The distance from one mark to the next is at least this: closer ones would hide the curves. */
const MARK_PX = 14;
const FONT = "11px system-ui, sans-serif";

/**
 * A live line chart, with a vertical line at each of the `marks`, and another at the step that is looked `at`. `onHover` gets the index of the point under the pointer, or null.
 * @param {{data: import("../../vendor/uplot.js").default.AlignedData, lines: Line[], version: unknown,
 *          height: number, log?: boolean, format: (value: number) => string,
 *          range?: [number, number], label: string, marks?: number[], at?: number,
 *          onHover: (index: number | null) => void, onPick?: (index: number) => void}} props
 *   `onPick` gets the index of the point that was clicked
 */
export function Chart(props) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const plot = useRef(/** @type {uPlot | null} */ (null));
  const latest = useRef(props);
  latest.current = props;
  /** @param {number | null | undefined} index */
  const pick = (index) => index !== null && index !== undefined && props.onPick?.(index);
  const colours = theme.value;
  const words = language.value;

  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const chart = new uPlot(options(latest, element.clientWidth), latest.current.data, element);
    plot.current = chart;
    const end = onResize(element, () => {
      chart.setSize({ width: element.clientWidth, height: latest.current.height });
    });
    return () => {
      end();
      chart.destroy();
      plot.current = null;
    };
  }, [colours, words, props.log, props.height]);

  useRedraw(place, () => plot.current?.setData(latest.current.data), props.version);

  return html`<div class="chart" ref=${place} role="img" aria-label=${props.label} style=${{ height: `${props.height}px` }}
    onClick=${() => pick(plot.current?.cursor.idx)}></div>`;
}

/**
 * Redraw after a change, but not while scrolled out of view.
 * @param {{current: HTMLElement | null}} place
 * @param {() => void} redraw
 * @param {unknown} version anything that changes with the data
 */
function useRedraw(place, redraw, version) {
  const state = useRef({ isVisible: true, isStale: false });

  function draw() {
    state.current.isStale = !state.current.isVisible;
    if (state.current.isVisible) redraw();
  }

  // Before the frame that shows the numbers: a frame of its own would cost the training more.
  useLayoutEffect(draw, [version]);
  useEffect(() => {
    if (!place.current) return undefined;
    return onVisible(place.current, (isVisible) => {
      state.current.isVisible = isVisible;
      if (isVisible && state.current.isStale) draw();
    });
  }, []);
}

/**
 * @param {{current: Parameters<typeof Chart>[0]}} latest
 * @param {number} width
 * @returns {import("../../vendor/uplot.js").default.Options}
 */
function options(latest, width) {
  const { lines, height, log, range, format } = latest.current;
  const axis = {
    stroke: cssColour("--muted"),
    font: FONT,
    grid: { stroke: cssColour("--grid"), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    padding: [10, 18, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 }, y: false },
    hooks: {
      draw: [
        (chart) => drawMarks(chart, latest.current.marks ?? []),
        (chart) => drawPlace(chart, latest.current.at),
      ],
      setCursor: [(chart) => latest.current.onHover(chart.cursor.idx ?? null)],
    },
    scales: {
      x: {
        time: false,
        range: (_chart, min, max) => [Math.min(min ?? 0, 1), Math.max(max ?? 0, 20)],
      },
      y: log ? { distr: 3 } : { range: (_chart, min, max) => span(range, min, max) },
    },
    axes: [
      { ...axis, size: 24, gap: 4, values: (_chart, ticks) => stepLabels(ticks) },
      {
        ...axis,
        size: (_chart, labels) => widthFor(labels),
        gap: 6,
        values: (_chart, ticks) => ticks.map((v) => (v === null ? "" : format(v))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, colour, width: thickness, isMark, isDashed }) => ({
        label,
        stroke: cssColour(colour),
        width: thickness,
        dash: isDashed ? [4, 3] : undefined,
        spanGaps: true,
        points: isMark
          ? { show: isSparse, size: 7, fill: cssColour(colour) }
          : { show: isAlone, size: 7, fill: cssColour(colour) },
      })),
    ],
  };
}

/** Draw dashed lines from top to bottom. @param {uPlot} chart @param {number[]} marks */
function drawMarks(chart, marks) {
  const {
    ctx: context,
    bbox: { top, height, left, width },
  } = chart;
  context.save();
  context.strokeStyle = context.fillStyle = cssColour("--muted");
  context.lineWidth = devicePixelRatio;
  context.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  const half = 4 * devicePixelRatio;
  for (const step of marks) {
    const x = Math.round(chart.valToPos(step, "x", true)) + 0.5;
    if (x < left || x > left + width) continue;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + height);
    context.stroke();
    context.beginPath();
    context.moveTo(x - half, top);
    context.lineTo(x + half, top);
    context.lineTo(x, top + 1.6 * half);
    context.fill();
  }
  context.restore();
}

/** Draw a line from top to bottom at a step. @param {uPlot} chart @param {number} [step] */
function drawPlace(chart, step) {
  if (step === undefined) return;
  const {
    ctx: context,
    bbox: { top, height, left, width },
  } = chart;
  // The curve begins at its first step, a run before it.
  const x = Math.min(left + width, Math.max(left, Math.round(chart.valToPos(step, "x", true))));
  context.save();
  context.fillStyle = cssColour("--accent");
  context.fillRect(x - devicePixelRatio, top, 2 * devicePixelRatio, height);
  context.beginPath();
  context.arc(x, top + height, 4.5 * devicePixelRatio, Math.PI, 2 * Math.PI);
  context.fill();
  context.restore();
}

/**
 * @param {[number, number] | undefined} range
 * @param {number | null} min
 * @param {number | null} max
 * @returns {[number, number]}
 */
function span(range, min, max) {
  if (min === null || max === null) return range ?? [0, 1];
  const [low, high] = range ?? [Math.min(0, min), max];
  const margin = (max - min || 1) * 0.05;
  return range ? [Math.min(low, min), Math.max(high, max)] : [low, high + margin];
}

/**
 * Whether a series has a single value, which no line shows.
 * @param {uPlot} chart
 * @param {number} at
 */
const isAlone = (chart, at) => valuesIn(chart, at) === 1;

/**
 * Whether the marks of a series stand apart. Thousands would hide its line, and take long to draw.
 * @param {uPlot} chart
 * @param {number} at
 */
const isSparse = (chart, at) => valuesIn(chart, at) * MARK_PX <= chart.width;

/** @param {uPlot} chart @param {number} at of a series */
function valuesIn(chart, at) {
  let count = 0;
  for (const value of chart.data[at]) if (value !== null) count += 1;
  return count;
}

/** Room for the labels of an axis, in pixels. @param {string[] | null} labels */
const widthFor = (labels) =>
  Math.max(46, 14 + 6.5 * Math.max(...(labels ?? []).map(({ length }) => length)));

/** Labels for ticks; the first one inside the axis names the unit. @param {number[]} ticks */
function stepLabels(ticks) {
  const first = ticks.findIndex((step) => step > 0);
  return ticks.map((step, index) => (index === first ? t().curves.tick(short(step)) : short(step)));
}

/** @param {number} step */
const short = (step) => (step >= 10000 ? `${step / 1000}k` : String(step));
