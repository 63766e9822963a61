/** The subject of the panel Inspect, which outlives the panel. */

import { signal } from "../../vendor/preact.js";
import * as store from "../state/store.js";

/** @import { UnitEdit } from "../../engine/messages.js" */

/** The view of the panel Inspect that is open. */
export const openView = signal("layers");
/** The name of the layer; null for the first with weights. */
export const chosenLayer = signal(/** @type {string | null} */ (null));
/** The number of the sample. */
export const sampleNumber = signal(0);
/** Whether the drawn digit is shown in place of the sample. */
export const usesDrawing = signal(false);
/** New values of the sample or the drawing, by their index. */
export const edits = signal(/** @type {Record<number, number>} */ ({}));
/** Units that give multiples of their values, in the order in which they were chosen. */
export const scaled = signal(/** @type {UnitEdit[]} */ ([]));

/** The layer of a result: the second call of a layer is named "dense_1:2". @param {string} name */
export const layerOf = (name) => name.split(":")[0];

/** The factor of a unit; undefined if it is as it is. @param {string} name of a result @param {number} unit */
export const factorOf = (name, unit) =>
  scaled.value.find((each) => each.layer === layerOf(name) && each.unit === unit)?.factor;

/** Silence a unit, or let it speak again. @param {string} name of a result @param {number} unit */
export function toggleUnit(name, unit) {
  const layer = layerOf(name);
  scaled.value =
    factorOf(name, unit) === undefined
      ? [...scaled.value, { layer, unit, factor: 0 }]
      : scaled.value.filter((each) => each.layer !== layer || each.unit !== unit);
}

/** Set the factor of a unit that has one. @param {string} layer @param {number} unit @param {number} factor */
export function setFactor(layer, unit, factor) {
  scaled.value = scaled.value.map((each) =>
    each.layer === layer && each.unit === unit ? { ...each, factor } : each,
  );
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

/** Look at a sample of the data in the view of layers. @param {number} number */
export function openLayers(number) {
  lookAt(number, false);
  openView.value = "layers";
  store.view.value = "inspect"; // samples are in Watch, too
}
