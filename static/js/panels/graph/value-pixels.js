/** The colours of a grid of values: one for negative, one for positive, and one for NaN. */

import { largestOf } from "../../pictures/plane-colours.js";

/** @import { Colour } from "../../pictures/plane-colours.js" */

/** @typedef {{negative: Colour, middle: Colour, positive: Colour, invalid: Colour}} ValueColours */

/**
 * The values of a grid, as many as it has rows and columns.
 * @param {import("../../../engine/messages.js").ValueGrid} grid
 */
export function gridValues({ values, rows, columns }) {
  const bytes = new Uint8Array(4 * rows.length * columns.length);
  bytes.set(values.subarray(0, bytes.length));
  return new Float32Array(bytes.buffer);
}

/**
 * A pixel for each value, as RGBA.
 * @param {Float32Array} values
 * @param {ValueColours} colours
 */
export function valuePixels(values, { negative, middle, positive, invalid }) {
  const largest = largestOf(values) || 1;
  const rgba = new Uint8ClampedArray(4 * values.length);
  for (const [at, value] of values.entries()) {
    const end = value < 0 ? negative : positive;
    const part = Math.abs(value) / largest;
    const colour = Number.isFinite(value)
      ? middle.map((each, index) => each + (end[index] - each) * part)
      : invalid;
    rgba.set([...colour, 255], 4 * at);
  }
  return rgba;
}
