/** Colours of a model's outputs over the plane. */

/** @import { Scale } from "../../engine/messages.js" */

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

/** The largest finite size among values, which has the full colour. @param {Float32Array} values */
export function largestOf(values) {
  let largest = 0;
  for (const value of values)
    if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
  return largest;
}

/**
 * The class of each cell, and how sure the model is, from 0 to 1; NaN where it gives no number.
 * @typedef {{labels: Uint32Array, certainties: Float32Array}} Decisions
 */

/**
 * Decide between two classes.
 * @param {Decisions} decisions
 * @param {number} cell
 * @param {number} value the only output
 * @param {Scale} scale
 */
function decideBetween({ labels, certainties }, cell, value, scale) {
  const chance = scale === "probability" ? value : logistic(scale === "margin" ? 3 * value : value);
  labels[cell] = chance > 0.5 ? 1 : 0;
  certainties[cell] = limited(Math.abs(2 * chance - 1));
}

/** @param {number} score */
const logistic = (score) => 1 / (1 + Math.exp(-score));

/**
 * Decide among classes with an output each.
 * @param {Decisions} decisions
 * @param {number} cell
 * @param {Float32Array} outputs
 * @param {number} classes
 * @param {Scale} scale
 */
function decideAmong({ labels, certainties }, cell, outputs, classes, scale) {
  const first = cell * classes;
  let label = 0;
  for (let each = 1; each < classes; each += 1)
    if (outputs[first + each] > outputs[first + label]) label = each;
  const largest = outputs[first + label];
  let chance = largest;
  if (scale !== "probabilities") {
    let sum = 0;
    for (let each = first; each < first + classes; each += 1)
      sum += Math.exp(outputs[each] - largest);
    chance = 1 / sum;
  }
  labels[cell] = label;
  certainties[cell] = sureness(chance, classes);
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
 * What the outputs say about each cell of the plane. A number to be predicted leans to one end of its range.
 * @param {Float32Array} outputs (cells, outputs)
 * @param {number} cells
 * @param {Scale} scale
 * @param {[low: number, high: number]} range of the numbers to be predicted, on a linear scale
 * @returns {Decisions}
 */
export function decisionsOf(outputs, cells, scale, range) {
  const decisions = { labels: new Uint32Array(cells), certainties: new Float32Array(cells) };
  const columns = outputs.length / cells;
  for (let cell = 0; cell < cells; cell += 1) {
    if (scale === "linear") {
      const { label, certainty } = between(outputs[cell], range);
      decisions.labels[cell] = label;
      decisions.certainties[cell] = certainty;
    } else if (columns === 1) decideBetween(decisions, cell, outputs[cell], scale);
    else decideAmong(decisions, cell, outputs, columns, scale);
  }
  return decisions;
}

/**
 * The pixels of the plane, one for each cell.
 * @param {Decisions} decisions
 * @param {Palette} palette
 * @returns {Uint8ClampedArray<ArrayBuffer>} RGBA
 */
export function planePixels({ labels, certainties }, palette) {
  const pixels = new Uint8ClampedArray(4 * labels.length);
  for (let cell = 0; cell < labels.length; cell += 1) {
    const colour = palette.classes[labels[cell] % palette.classes.length];
    const certainty = certainties[cell];
    paint(
      pixels,
      cell,
      palette.surface,
      colour,
      Number.isNaN(certainty) ? 0 : certainty * STRONGEST,
    );
  }
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
  const colours = unitColours(palette);
  const pixels = new Uint32Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) pixels[at] = colours[bytes[at]];
  return new Uint8ClampedArray(pixels.buffer);
}

/** The colours of the last palette. @type {{palette: Palette | null, colours: Uint32Array}} */
const ofUnits = { palette: null, colours: new Uint32Array() };

/** The colour of each byte, as a pixel. @param {Palette} palette */
function unitColours(palette) {
  if (ofUnits.palette !== palette) {
    const pixels = new Uint8ClampedArray(4 * 256);
    for (let byte = 0; byte < 256; byte += 1) {
      const value = (byte - 128) / 127;
      paint(
        pixels,
        byte,
        palette.surface,
        palette.classes[value > 0 ? 1 : 0],
        Math.min(1, Math.abs(value)) * 0.85,
      );
    }
    Object.assign(ofUnits, { palette, colours: new Uint32Array(pixels.buffer) });
  }
  return ofUnits.colours;
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
