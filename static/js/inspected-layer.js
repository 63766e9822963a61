/** What the view of layers looks at: it outlives the panel. */

import { signal } from "../vendor/preact.js";

/** The name of the layer; null for the first with weights. */
export const chosenLayer = signal(/** @type {string | null} */ (null));
/** The number of the sample. */
export const sampleNumber = signal(0);
/** Whether the drawn digit is looked at in place of the sample. */
export const usesDrawing = signal(false);
/** New values of the sample or the drawing, by their index. */
export const edits = signal(/** @type {Record<number, number>} */ ({}));
/** Units that give 0, by layer. */
export const silenced = signal(/** @type {Record<string, number[]>} */ ({}));

/** The layer of a result: the second call of a layer is named "dense_1:2". @param {string} name */
export const layerOf = (name) => name.split(":")[0];

/** Silence a unit, or let it speak again. @param {string} name @param {number} unit */
export function toggleUnit(name, unit) {
  const layer = layerOf(name);
  const { [layer]: units = [], ...others } = silenced.value;
  const next = units.includes(unit) ? units.filter((each) => each !== unit) : [...units, unit].sort((a, b) => a - b);
  silenced.value = next.length > 0 ? { ...others, [layer]: next } : others;
}

/** A float32 with the digits that a field has room for. @param {number} value */
export const rounded = (value) => Number(value.toPrecision(6));

/**
 * Set values of the sample. One that is as a field shows the original is no edit.
 * @param {Iterable<number>} indices
 * @param {number} value
 * @param {Float32Array} original
 */
export function setValues(indices, value, original) {
  const next = { ...edits.value };
  const stored = Math.fround(value);
  for (const at of indices) {
    if (rounded(stored) === rounded(original[at])) delete next[at];
    else next[at] = stored;
  }
  edits.value = next;
}

/** Look at another sample. @param {number} number @param {boolean} isDrawing */
export function lookAt(number, isDrawing) {
  edits.value = {};
  sampleNumber.value = number;
  usesDrawing.value = isDrawing;
}
