/** The pixels of pictures that a program shows. */

/** @import { Figure } from "../../engine/messages.js" */
/** @import { Colour } from "./plane-colours.js" */

/**
 * @typedef {Extract<Figure, {shows: "pictures"}>} Pictures
 * @typedef {Pick<Pictures, "count" | "height" | "width" | "channels" | "scale" | "pixels">} Drawn
 * @typedef {{negative: Colour, middle: Colour, positive: Colour}} Ends of the scale "diverging"
 */

const MIDDLE = 128;

/** The pictures of a grid in a row. @param {number} count */
export const columnsFor = (count) =>
  Math.min(count, Math.max(1, Math.ceil(Math.sqrt(count * 1.6))));

/**
 * All pictures in a grid with a transparent pixel between them, as RGBA.
 * @param {Drawn} figure
 * @param {Ends} ends
 */
export function gridPixels({ count, height, width, channels, scale, pixels }, ends) {
  const columns = columnsFor(count);
  const gap = count > 1 ? 1 : 0;
  const gridWidth = columns * (width + gap) - gap;
  const gridHeight = Math.ceil(count / columns) * (height + gap) - gap;
  const rgba = new Uint8ClampedArray(4 * gridWidth * gridHeight);
  for (let number = 0; number < count; number += 1) {
    const left = (number % columns) * (width + gap);
    const top = Math.floor(number / columns) * (height + gap);
    for (let row = 0; row < height; row += 1) {
      for (let column = 0; column < width; column += 1) {
        const from = channels * ((number * height + row) * width + column);
        rgba.set(
          colourAt(pixels, from, channels, scale, ends),
          4 * ((top + row) * gridWidth + left + column),
        );
      }
    }
  }
  return { width: gridWidth, height: gridHeight, rgba };
}

/**
 * @param {Uint8Array} pixels
 * @param {number} at
 * @param {number} channels
 * @param {Pictures["scale"]} scale
 * @param {Ends} ends
 */
function colourAt(pixels, at, channels, scale, { negative, middle, positive }) {
  const value = pixels[at];
  if (scale === "diverging") {
    const part = (value - MIDDLE) / 127;
    const end = part > 0 ? positive : negative;
    return [
      ...middle.map((each, index) => each + (end[index] - each) * Math.min(1, Math.abs(part))),
      255,
    ];
  }
  if (channels === 1) return [value, value, value, 255];
  return [value, pixels[at + 1], pixels[at + 2], channels === 4 ? pixels[at + 3] : 255];
}
