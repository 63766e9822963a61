/** The names of versions in words, and their numbers. */

import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";

/** @typedef {import("../../../engine/messages.js").ShrunkPoint} ShrunkPoint */

/** How a version is made. @param {string} name @returns {"original" | "bits" | "sparsity" | "clusters"} */
export function familyOf(name) {
  if (name === "original") return "original";
  if (name.startsWith("sparsity-")) return "sparsity";
  return name.startsWith("clusters-") ? "clusters" : "bits";
}

/** @param {string} name as Python has it: "int8", "sparsity-90" */
export function nameOf(name) {
  const words = t().shrink;
  const number = Number(name.split("-").at(-1));
  const family = familyOf(name);
  if (family === "original") return words.original;
  if (family === "sparsity") return words.sparsity(number);
  return family === "clusters" ? words.clusters(number) : name;
}

/** How it is made, in a sentence. @param {string} name */
export function aboutOf(name) {
  const { abouts } = t().shrink;
  return (
    /** @type {Record<string, string>} */ (abouts)[
      familyOf(name) === "bits" ? name : familyOf(name)
    ] ?? ""
  );
}

/** @param {ShrunkPoint} point */
export const valueOf = ({ metric, value }) =>
  metric === "accuracy" ? format.percent(value) : format.loss(value);

/** What it gains or loses against the original, with its sign. @param {ShrunkPoint} point @param {ShrunkPoint} original */
export function changeOf({ metric, value }, original) {
  const change = value - original.value;
  const size = Math.abs(change);
  const text = metric === "accuracy" ? (100 * size).toFixed(2) : format.loss(size);
  return `${change > 0 ? "+" : change < 0 ? "−" : "±"}${text}`;
}

/** The form of a layer's weights, which Python says as "55% zeros, 16 values" or "int8". @param {string} form */
export function formOf(form) {
  const words = t().shrink;
  const parts = form.split(", ").map((part) => {
    const [, number, what] = /^(\d+)(% zeros| values)$/.exec(part) ?? [];
    if (!what) return part;
    return what === " values" ? words.clusters(Number(number)) : words.sparsity(Number(number));
  });
  return t().numbers.list(parts);
}
