import { html, useEffect, useLayoutEffect, useMemo, useRef } from "../../../vendor/preact.js";
import { language, t } from "../../words/locale.js";
import { onResize } from "../../training/observe.js";
import { floats } from "../../training/task.js";
import { cssColour, theme } from "../../frame/theme.js";

/**
 * @import { RowData, TaskView } from "../../../engine/messages.js"
 * @typedef {Extract<TaskView, {shows: "rows"}>} RowsView
 */

const MARGIN = { left: 52, right: 12, top: 10, bottom: 34 };
const MARGIN_OF_RANGE = 0.05;

/** Predicted against true numbers, with the line where they are equal. @param {{view: RowsView}} props */
export function FitScatter({ view }) {
  const data = /** @type {RowData} */ (view.data);
  const truth = useMemo(() => floats(data.truth), [data]);
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const latest = useRef(() => {});
  const colours = theme.value;
  latest.current = () => canvas.current && draw(canvas.current, truth, floats(view.predicted));

  useLayoutEffect(() => latest.current(), [view, colours, language.value]);
  useEffect(
    () => (canvas.current ? onResize(canvas.current, () => latest.current()) : undefined),
    [],
  );

  const explained = view.explained === null ? "–" : short(view.explained);
  const words = t().task;
  return html`
    <div class="scatter">
      <p class="hint">
        R² <b data-testid="fit-explained">${explained}</b>${words.error}
        <b data-testid="fit-error">${short(view.error)}</b>${words.onRows(words.rows(truth.length, data.total, data.tested))}
      </p>
      <canvas class="scatter-canvas" data-testid="fit-scatter" ref=${canvas} role="img"
        aria-label=${words.scatter(explained, short(view.error))}></canvas>
    </div>
  `;
}

/** @param {HTMLCanvasElement} element @param {Float32Array} truth @param {Float32Array} predicted */
function draw(element, truth, predicted) {
  const context = element.getContext("2d");
  const { clientWidth: width, clientHeight: height } = element;
  if (!context || width === 0) return;
  element.width = Math.round(width * devicePixelRatio);
  element.height = Math.round(height * devicePixelRatio);
  context.scale(devicePixelRatio, devicePixelRatio);
  const [low, high] = rangeOf(truth);
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  /** @param {number} value */
  const across = (value) => MARGIN.left + ((right - MARGIN.left) * (value - low)) / (high - low);
  /** @param {number} value */
  const up = (value) => bottom - ((bottom - MARGIN.top) * (value - low)) / (high - low);

  drawAxes(context, { low, high, right, bottom, across, up });
  context.save();
  context.beginPath();
  context.rect(MARGIN.left, MARGIN.top, right - MARGIN.left, bottom - MARGIN.top);
  context.clip();
  context.strokeStyle = cssColour("--muted");
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(across(low), up(low));
  context.lineTo(across(high), up(high));
  context.stroke();
  context.globalAlpha = 0.65;
  context.fillStyle = cssColour("--loss");
  truth.forEach((value, at) => {
    context.beginPath();
    // A prediction beyond the picture is drawn at its edge.
    context.arc(
      across(value),
      up(Math.min(high, Math.max(low, predicted[at]))),
      2.6,
      0,
      2 * Math.PI,
    );
    context.fill();
  });
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{low: number, high: number, right: number, bottom: number, across: (value: number) => number,
 *          up: (value: number) => number}} place
 */
function drawAxes(context, { low, high, right, bottom, across, up }) {
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = cssColour("--muted");
  context.strokeStyle = cssColour("--grid");
  for (const tick of ticks(low, high)) {
    context.beginPath();
    context.moveTo(across(tick), MARGIN.top);
    context.lineTo(across(tick), bottom);
    context.moveTo(MARGIN.left, up(tick));
    context.lineTo(right, up(tick));
    context.stroke();
    context.textAlign = "center";
    context.fillText(short(tick), across(tick), bottom + 14);
    context.textAlign = "right";
    context.fillText(short(tick), MARGIN.left - 6, up(tick) + 4);
  }
  context.textAlign = "center";
  context.fillText(t().task.truth, (MARGIN.left + right) / 2, bottom + 29);
  context.save();
  context.translate(11, (MARGIN.top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(t().task.predicted, 0, 0);
  context.restore();
}

/** @param {Float32Array} values @returns {[number, number]} */
function rangeOf(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = (high - low || 1) * MARGIN_OF_RANGE;
  return [low - margin, high + margin];
}

/** About four round numbers. @param {number} low @param {number} high */
function ticks(low, high) {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const stride = power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
  const first = Math.ceil(low / stride);
  const last = Math.floor(high / stride);
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * stride);
}

/** @param {number} value */
const short = (value) => String(Number(value.toPrecision(3))).replace("-", "−");
