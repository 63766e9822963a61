import { html, useEffect, useRef, useState } from "../../../vendor/preact.js";
import { edits, setValues } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { cssColour, theme } from "../../frame/theme.js";
import { ValueField } from "./value-field.js";

/** @import { InspectedSample } from "../../../engine/messages.js" */

/** Length of the longer side of the canvas in its own pixels, at least; the page scales it down. */
const SIDE = 448;
/** @type {Record<string, [number, number]>} rows and columns */
const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * The picture of the sample, whose pixels a click makes dark or bright.
 * @param {{sample: InspectedSample, picture: NonNullable<InspectedSample["picture"]>, values: Float32Array}} props
 *   `values`: of the sample before edits
 */
export function PixelEditor({ sample, picture: { height, width, channels }, values }) {
  const words = t().inspectLayers;
  const { low, high } = sample;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const [cursor, setCursor] = useState({
    row: Math.floor(height / 2),
    column: Math.floor(width / 2),
  });
  /** The value that the pointer paints while it is down. */
  const paint = useRef(/** @type {number | null} */ (null));
  const row = Math.min(cursor.row, height - 1);
  const column = Math.min(cursor.column, width - 1);
  const scale = Math.ceil(SIDE / Math.max(height, width));

  const indicesOf = (/** @type {number} */ y, /** @type {number} */ x) =>
    Array.from({ length: channels }, (_, channel) => (y * width + x) * channels + channel);
  const valueAt = (/** @type {number} */ at) => edits.value[at] ?? values[at];
  /** The other end of the range. @param {number[]} indices */
  const opposite = (indices) =>
    indices.reduce((sum, at) => sum + valueAt(at), 0) / channels < (low + high) / 2 ? high : low;

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const byte = (/** @type {number} */ value) =>
      Math.max(0, Math.min(255, Math.round((255 * (value - low)) / (high - low || 1))));
    const mark = cssColour("--heat");
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const indices = indicesOf(y, x);
        const colour = indices.map((at) => byte(valueAt(at)));
        context.fillStyle = `rgb(${(channels === 3 ? colour : [colour[0], colour[0], colour[0]]).join(" ")})`;
        context.fillRect(x * scale, y * scale, scale, scale);
        if (indices.some((at) => at in edits.value))
          outline(context, mark, [x, y, scale], Math.max(1, scale / 8));
      }
    }
    outline(context, "#000", [column, row, scale], Math.max(2, scale / 4));
    outline(context, "#fff", [column, row, scale], Math.max(1, scale / 8));
  }, [sample, edits.value, row, column, theme.value]);

  /** @param {PointerEvent} event */
  function placeOf(event) {
    const {
      left,
      top,
      width: across,
      height: down,
    } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    const clamp = (/** @type {number} */ share, /** @type {number} */ size) =>
      Math.max(0, Math.min(size - 1, Math.floor(share * size)));
    return {
      row: clamp((event.clientY - top) / down, height),
      column: clamp((event.clientX - left) / across, width),
    };
  }

  /** @param {PointerEvent} event */
  function onPointerDown(event) {
    if (event.button !== 0) return;
    const place = placeOf(event);
    const indices = indicesOf(place.row, place.column);
    paint.current = opposite(indices);
    /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
    setCursor(place);
    setValues(indices, paint.current, values);
  }

  /** @param {PointerEvent} event */
  function onPointerMove(event) {
    if (paint.current === null) return;
    const place = placeOf(event);
    if (place.row === row && place.column === column) return;
    setCursor(place);
    setValues(indicesOf(place.row, place.column), paint.current, values);
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const [down, across] = ARROWS[event.key] ?? [0, 0];
    const isSet = event.key === " " || event.key === "Enter";
    if (!isSet && !ARROWS[event.key]) return;
    event.preventDefault();
    if (isSet) setValues(indicesOf(row, column), opposite(indicesOf(row, column)), values);
    else
      setCursor({
        row: Math.max(0, Math.min(height - 1, row + down)),
        column: Math.max(0, Math.min(width - 1, column + across)),
      });
  }

  return html`
    <div class="pixel-editor">
      <canvas width=${width * scale} height=${height * scale} ref=${canvas} tabindex="0" role="application" data-testid="pixel-editor"
        aria-label=${words.pixels} aria-describedby="pixel-hint" onPointerDown=${onPointerDown} onPointerMove=${onPointerMove}
        onPointerUp=${() => (paint.current = null)} onPointerCancel=${() => (paint.current = null)} onKeyDown=${onKeyDown}></canvas>
      <p class="hint" id="pixel-hint">${words.pixelHint}</p>
      <div class="pixel-value">
        <output data-testid="pixel-place">${words.pixel(row + 1, column + 1)}</output>
        ${indicesOf(row, column).map(
          (
            at,
            channel,
          ) => html`<label key=${channel}>${channels === 3 ? words.channels[channel] : words.pixelValue}
          <${ValueField} testId=${`pixel-value-${channel}`} value=${valueAt(at)} whole=${sample.whole}
            onValue=${(/** @type {number} */ value) => setValues([at], value, values)} /></label>`,
        )}
      </div>
    </div>
  `;
}

/**
 * Outline a pixel, inside it.
 * @param {CanvasRenderingContext2D} context
 * @param {string} colour
 * @param {[number, number, number]} place column, row, and the side of a pixel
 * @param {number} line its width
 */
function outline(context, colour, [x, y, side], line) {
  context.strokeStyle = colour;
  context.lineWidth = line;
  context.strokeRect(x * side + line / 2, y * side + line / 2, side - line, side - line);
}
