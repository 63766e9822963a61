/** The doctor's findings and edits in the language of the page. */

import { t } from "../../words/locale.js";

/** @import { Finding, SuggestedEdit } from "../../../engine/messages.js" */

/** Values of a finding or an edit, as they stand in a sentence. @typedef {Record<string, string>} Words */

/** A number in a sentence: "0.01", "29,400", "1.3e+10". @param {number | string} value */
function number(value) {
  if (typeof value === "string") return value;
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const text =
    size > 0 && (size < 1e-4 || size >= 1e6)
      ? value.toExponential().replace(/(\.\d{2})\d*/, "$1")
      : Number(value.toPrecision(3)).toLocaleString("en");
  return text.replace("-", "−");
}

/** @param {Record<string, number | string>} values @returns {Words} */
const inWords = (values) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, number(value)]));

/** @param {Finding} finding */
export function sentenceOf({ code, values }) {
  /** @type {Record<string, (values: Words) => string>} */
  const sentences = t().doctor.sentences;
  const all = inWords(values);
  if (typeof values.ratio === "number") all.times = number(1 / Math.max(values.ratio, 1e-12));
  return sentences[code]?.(all) ?? "";
}

/** @param {SuggestedEdit} edit */
export function editInWords({ code, values }) {
  /** @type {Record<string, (values: Words) => string>} */
  const edits = t().doctor.edits;
  return edits[code]?.(inWords(values)) ?? "";
}
