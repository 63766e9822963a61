/** The words before a predicted digit: they say no more than its probability does. */

import { t } from "../../words/locale.js";

/** A digit that is likelier than all others together by far. */
const CERTAIN = 0.6;
/** A digit that is worth naming. */
const LIKELY = 0.35;

/** @param {number[] | null} probabilities @param {number | null} label */
export function sureness(probabilities, label) {
  if (!probabilities || label === null) return t().digits.none;
  const chance = probabilities[label];
  if (chance >= CERTAIN) return t().digits.certain(label);
  return chance >= LIKELY ? t().digits.likely(label) : t().digits.unsure(label);
}
