/** The colours of classes and numbers in the present theme. */

import { parseColour } from "./plane-colours.js";
import { cssColour } from "../frame/theme.js";

/** @import { Colour, Palette } from "./plane-colours.js" */

/** Classes with a colour of their own. */
export const COLOURS = 8;

/** @returns {Palette} */
export function readPalette() {
  const classes = Array.from({ length: COLOURS }, (_, at) =>
    parseColour(cssColour(`--series-${at}`)),
  );
  return { surface: parseColour(cssColour("--surface")), classes };
}

/** The colour of a number. @param {Palette} palette @param {number} value @param {[number, number]} range */
export function blend({ surface, classes }, value, [low, high]) {
  const place = high > low ? (2 * (value - low)) / (high - low) - 1 : 0;
  const end = classes[place > 0 ? 1 : 0];
  const part = Math.min(1, Math.abs(place));
  return /** @type {Colour} */ (surface.map((each, at) => each + (end[at] - each) * part));
}

/** @param {number[]} colour */
export const css = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;
