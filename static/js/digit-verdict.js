/** The words before a predicted digit: they say no more than its probability does. */

/** A digit that is likelier than all others together by far. */
const CERTAIN = 0.6;
/** A digit that is worth naming. */
const LIKELY = 0.35;
/** The digits whose names begin with a vowel. */
const WITH_AN = new Set([8]);

/** @param {number[] | null} probabilities @param {number | null} label */
export function sureness(probabilities, label) {
  if (!probabilities || label === null) return "Prediction";
  const article = WITH_AN.has(label) ? "an" : "a";
  const chance = probabilities[label];
  if (chance >= CERTAIN) return `It is ${article}`;
  return chance >= LIKELY ? `Perhaps ${article}` : `Not sure: perhaps ${article}`;
}
