/** Colours of a model's outputs over the plane. */

/** @import { Scale } from "../engine/messages.js" */

/** @typedef {[red: number, green: number, blue: number]} Colour */
/**
 * @typedef {{surface: Colour, classes: Colour[]}} Palette
 *   `surface`: where the model is undecided
 */

/** How much of a class's colour the plane has where the model is sure; points have all of it. */
const STRONGEST = 0.6;

/** @param {string} text a computed colour, such as "rgb(1, 2, 3)" @returns {Colour} */
export function parseColour(text) {
  const [red, green, blue] = (text.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue];
}

/**
 * The predicted one of two classes, and how sure the model is, from 0 to 1.
 * @param {number} value the only output
 * @param {Scale} scale
 */
function decisionOfTwo(value, scale) {
  const chance = scale === "probability" ? value : logistic(scale === "margin" ? 3 * value : value);
  return { label: chance > 0.5 ? 1 : 0, certainty: limited(Math.abs(2 * chance - 1)) };
}

/** @param {number} score */
const logistic = (score) => 1 / (1 + Math.exp(-score));

/**
 * The same for an output for each class.
 * @param {Float32Array} outputs
 * @param {number} cell
 * @param {number} classes
 * @param {Scale} scale
 */
function decisionAmong(outputs, cell, classes, scale) {
  const values = outputs.subarray(cell * classes, (cell + 1) * classes);
  let label = 0;
  for (let each = 1; each < classes; each += 1) if (values[each] > values[label]) label = each;
  if (scale === "probabilities") return { label, certainty: sureness(values[label], classes) };
  let sum = 0;
  for (const value of values) sum += Math.exp(value - values[label]);
  return { label, certainty: sureness(1 / sum, classes) };
}

/**
 * 0 for a guess among the classes, 1 for certainty; also if the "chance" is none, because a program
 * takes scores for probabilities.
 * @param {number} chance
 * @param {number} classes
 */
const sureness = (chance, classes) => limited((chance - 1 / classes) / (1 - 1 / classes));

/** @param {number} value */
const limited = (value) => Math.min(1, Math.max(0, value));

/**
 * The class of each cell of the plane, with how sure the model is.
 * @param {Float32Array} outputs (cells, outputs)
 * @param {number} cells
 * @param {Scale} scale
 * @returns {{label: number, certainty: number}[]}
 */
export function decisionsOf(outputs, cells, scale) {
  const columns = outputs.length / cells;
  return Array.from({ length: cells }, (_, cell) => (columns === 1
    ? decisionOfTwo(outputs[cell], scale)
    : decisionAmong(outputs, cell, columns, scale)));
}

/**
 * The pixels of the plane, one for each cell.
 * @param {Float32Array} outputs (cells, outputs)
 * @param {number} cells
 * @param {Scale} scale
 * @param {Palette} palette
 * @param {[low: number, high: number]} range of the numbers to be predicted, on a linear scale
 * @returns {Uint8ClampedArray<ArrayBuffer>} RGBA
 */
export function planePixels(outputs, cells, scale, palette, range) {
  const pixels = new Uint8ClampedArray(4 * cells);
  const decided = scale === "linear"
    ? Array.from(outputs, (value) => between(value, range))
    : decisionsOf(outputs, cells, scale);
  decided.forEach(({ label, certainty }, cell) => {
    const colour = palette.classes[label % palette.classes.length];
    paint(pixels, cell, palette.surface, colour, Number.isNaN(certainty) ? 0 : certainty * STRONGEST);
  });
  return pixels;
}

/** A number as a leaning to the low or the high end of a range. @param {number} value @param {[number, number]} range */
export function between(value, [low, high]) {
  const place = high > low ? (2 * (value - low)) / (high - low) - 1 : 0;
  return { label: place > 0 ? 1 : 0, certainty: Math.min(1, Math.abs(place)) };
}

/**
 * The pixels of a hidden unit: a byte each, of which 128 is 0.
 * @param {Uint8Array} bytes
 * @param {Palette} palette
 * @returns {Uint8ClampedArray<ArrayBuffer>} RGBA
 */
export function unitPixels(bytes, palette) {
  const pixels = new Uint8ClampedArray(4 * bytes.length);
  bytes.forEach((byte, at) => {
    const value = (byte - 128) / 127;
    paint(pixels, at, palette.surface, palette.classes[value > 0 ? 1 : 0], Math.min(1, Math.abs(value)) * 0.85);
  });
  return pixels;
}

/**
 * @param {Uint8ClampedArray} pixels
 * @param {number} at
 * @param {Colour} from
 * @param {Colour} to
 * @param {number} part of `to`
 */
function paint(pixels, at, from, to, part) {
  for (let channel = 0; channel < 3; channel += 1) {
    pixels[4 * at + channel] = from[channel] + (to[channel] - from[channel]) * part;
  }
  pixels[4 * at + 3] = 255;
}
