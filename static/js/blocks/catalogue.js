/** The layers that Blocks offers: in groups, each with the fields of its card. They come from the records of the library. */

import { LAYERS, OTHER_NAMES } from "../records/layers.js";
import { LAYER_TEXTS, OPTIMIZER_TEXTS } from "../records/texts.js";

/** @import { Messages } from "../messages/en.js" */
/** @import { LayerRecord } from "./types.js" */

/** @typedef {keyof Messages["blocks"]["fields"]} Label the name of a field */
/**
 * @typedef {object} Field
 * @property {string} parameter
 * @property {Label} label
 * @property {"count" | "number" | "size" | "choice" | "flag" | "shape" | "regularizer"} type
 *   "size": a whole number that may also be given for each axis; "shape": a tuple
 * @property {boolean} [more] whether it is among the fields that are folded
 * @property {number} [least]
 * @property {number} [most]
 * @property {number} [step]
 * @property {readonly string[]} [options] texts of values, for a choice
 */

/** @type {(keyof Messages["layers"]["groups"])[]} */
const GROUP_NAMES = ["basic", "images", "sequences", "normalization"];

export const GROUPS = GROUP_NAMES.map((name) => ({
  name,
  entries: LAYERS.filter(({ group }) => group === name),
}));

/** A function of the library, which has no record. @type {LayerRecord} */
const INPUT = {
  kind: "Input",
  group: null,
  given: "",
  fields: [{ parameter: "shape", label: "shape", type: "shape" }],
  rule: null,
};

/** @type {Map<string, LayerRecord>} */
const BY_KIND = new Map([...LAYERS, INPUT].map((record) => [record.kind, record]));

/** The record of a layer, also by the other name that it has in Keras. @param {string} kind */
export const recordOf = (kind) => BY_KIND.get(OTHER_NAMES[kind] ?? kind) ?? null;

/** @param {string} kind null for a layer that Blocks has nothing to say of */
export function entryOf(kind) {
  const record = recordOf(kind);
  return kind === INPUT.kind || (record && LAYER_TEXTS[record.kind]) ? record : null;
}

/** Optimizers of the menu. */
export const OPTIMIZERS = Object.keys(OPTIMIZER_TEXTS);

/** Losses of the menu, with their arguments. */
export const LOSSES = /** @type {const} */ ([
  { kind: "SparseCategoricalCrossentropy", given: "from_logits=True" },
  { kind: "CategoricalCrossentropy", given: "from_logits=True" },
  { kind: "BinaryCrossentropy", given: "from_logits=True" },
  { kind: "MeanSquaredError", given: "" },
  { kind: "MeanAbsoluteError", given: "" },
  { kind: "Huber", given: "" },
]);

/** @typedef {keyof import("../messages/en.js").Messages["metrics"]["names"]} Metric */

/** Metrics of the menu, by what the loss is for; `least`: outputs. @type {Record<"classes" | "binary" | "numbers", {name: Metric, least?: number}[]>} */
export const METRICS = {
  classes: [{ name: "accuracy" }, { name: "top_k_accuracy", least: 6 }],
  binary: [{ name: "accuracy" }],
  numbers: [
    { name: "mean_absolute_error" },
    { name: "mean_squared_error" },
    { name: "root_mean_squared_error" },
    { name: "r2_score" },
  ],
};
