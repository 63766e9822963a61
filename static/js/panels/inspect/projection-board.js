import { html, useEffect, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { onResize } from "../../training/observe.js";
import { COLOURS, blend, css } from "../../pictures/palette.js";
import { drawPoint } from "../../pictures/point-shapes.js";
import { cssColour } from "../../frame/theme.js";
import { isWrong } from "./sample-cache.js";
import { movedTo, nearest, squareAround } from "./projection.js";

/**
 * @import { Palette } from "../../pictures/plane-colours.js"
 * @import { Samples } from "./sample-cache.js"
 * @typedef {{placed: {points: Float32Array, rows: Float32Array}, samples: Samples, palette: Palette,
 *            range: [number, number], chosen: number}} Picture `chosen`: the point; −1 for none
 */

const RADIUS = 3.6;
/** Of a wrong point's ring and of the chosen one's, in addition. */
const RING = 2.6;
const CHOSEN = 5;
/** How far from a point the pointer may be, in pixels. */
const REACH = 14;

/**
 * A picture of points in classes' colours, of which one is chosen by the pointer or with arrow keys.
 * @param {Picture & {label: string, onChoose: (point: number) => void}} props
 */
export function ProjectionBoard({ label, onChoose, ...picture }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const latest = useRef(() => {});
  latest.current = () => canvas.current && draw(canvas.current, picture);
  const { placed, samples, palette, chosen } = picture;
  useLayoutEffect(() => latest.current(), [placed, samples, palette, chosen]);
  useEffect(
    () => (canvas.current ? onResize(canvas.current, () => latest.current()) : undefined),
    [],
  );

  /** @param {PointerEvent} event */
  function point(event) {
    const element = /** @type {HTMLCanvasElement} */ (event.currentTarget);
    const { left, bottom, size } = squareAround(placed.points);
    const unit = size / element.clientWidth;
    const x = left + event.offsetX * unit;
    const y = bottom + size - event.offsetY * unit;
    const at = nearest(placed.points, x, y, REACH * unit);
    if (at >= 0 && at !== chosen) onChoose(at);
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    const next = event.key === "Escape" ? -1 : movedTo(placed.points, chosen, event.key);
    if (next === null) return;
    event.preventDefault();
    onChoose(next);
  }

  return html`<canvas class="projection-board" data-testid="projection" ref=${canvas} role="img" tabindex="0"
    aria-label=${`${label} ${t().inspectProjection.keys}`} onPointerMove=${point} onPointerDown=${point} onKeyDown=${press}></canvas>`;
}

/** @param {HTMLCanvasElement} element @param {Picture} picture */
function draw(element, { placed, samples, palette, range, chosen }) {
  const context = element.getContext("2d");
  const side = element.clientWidth;
  if (!context || side === 0) return;
  element.width = element.height = Math.round(side * devicePixelRatio);
  context.scale(devicePixelRatio, devicePixelRatio);
  const { left, bottom, size } = squareAround(placed.points);
  const { classes } = samples.data;
  const place = (/** @type {number} */ at) => [
    (side * (placed.points[2 * at] - left)) / size,
    side - (side * (placed.points[2 * at + 1] - bottom)) / size,
  ];
  const surface = css(palette.surface);
  const strong = cssColour("--edge-strong");
  const danger = cssColour("--danger");
  const drawOne = (/** @type {number} */ at) => {
    const [x, y] = place(at);
    const label = samples.truth[placed.rows[at]];
    if (classes === 0)
      return drawPoint(context, 0, x, y, RADIUS, css(blend(palette, label, range)), strong, false);
    drawPoint(
      context,
      label,
      x,
      y,
      RADIUS,
      css(palette.classes[label % COLOURS]),
      surface,
      label >= COLOURS,
    );
    if (isWrong(samples, placed.rows[at])) circle(context, x, y, RADIUS + RING, danger, 1.5);
  };
  // Those that are wrong are drawn over the others.
  const order = Array.from(placed.rows.keys());
  order.filter((at) => !isWrong(samples, placed.rows[at])).forEach(drawOne);
  order.filter((at) => isWrong(samples, placed.rows[at])).forEach(drawOne);
  if (chosen < 0) return;
  drawOne(chosen);
  const [x, y] = place(chosen);
  circle(context, x, y, RADIUS + CHOSEN, cssColour("--text"), 2);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} colour
 * @param {number} width
 */
function circle(context, x, y, radius, colour, width) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}
