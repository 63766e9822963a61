/** The values to try for a field of a card: proposed values, and values that a visitor enters. */

import { literalOf } from "../blocks/calls.js";
import { enteredNumber, numberText } from "../blocks/field-values.js";
import { isNumber } from "../blocks/syntax.js";

/** @import { Field } from "../blocks/catalogue.js" */

/** Values that can be tried together: more curves are hard to tell apart. */
export const MOST_VALUES = 8;
const FEWEST_VALUES = 2;
const CHOICES = 4;

/**
 * Values around the one that the program has, in order.
 * @param {Field} field
 * @param {string} text of its value
 * @returns {string[]} as Python writes them
 */
export function suggestedValues(field, text) {
  if (field.type === "choice") {
    const options = field.options ?? [];
    return [text, ...options.filter((each) => each !== text)].slice(0, CHOICES);
  }
  const value = Number(text);
  const { least = -Infinity, most = Infinity } = field;
  const isWhole = field.type !== "number";
  const around = isWhole
    ? [value / 2, value, 2 * value, 4 * value]
    : most <= 1
      ? [value / 2, value, (value + most) / 2]
      : [value / 10, value / 3, value, 3 * value];
  const fitting = around
    .map((each) => (isWhole ? Math.round(each) : Number(each.toPrecision(1))))
    .map((each, at) => (around[at] === value ? value : each))
    .filter((each) => each >= least && each <= most && (isWhole || each > 0 || each === value));
  return [...new Set(fitting)].sort((a, b) => a - b).map(numberText);
}

/** A number with a decimal comma, or several numbers. */
const UNCLEAR = /^[-+]?\d+(,\d+)+(e[-+]?\d+)?$/i;

/**
 * The numbers in a text such as "0.1, 0.01".
 * @param {Field} field
 * @param {string} text
 * @returns {{values: string[], wrong: string | null, unclear: string | null}} each once; `wrong`: the first that does
 *   not fit; `unclear`: what may be one number or several
 */
export function enteredValues(field, text) {
  const words = text.split(/[;；、，\s]+/);
  const unclear = field.type === "number" && !text.includes(".") && words.find(isUnclear);
  const entered = text
    .split(/[,;，；、\s]+/)
    .filter(Boolean)
    .map(enteredNumber);
  const fits = (/** @type {string} */ each) => {
    const value = literalOf(each);
    return (
      (value?.type === "int" || (value?.type === "float" && field.type === "number")) &&
      isNumber(value) &&
      Number.isFinite(value.value) &&
      value.value >= (field.least ?? -Infinity) &&
      value.value <= (field.most ?? Infinity)
    );
  };
  const wrong = entered.find((each) => !fits(each)) ?? null;
  const values = wrong
    ? entered
    : entered.map((each) => numberText(Number(each.replaceAll("_", ""))));
  return { values: [...new Set(values)], wrong, unclear: unclear || null };
}

/** @param {string} word */
const isUnclear = (word) => UNCLEAR.test(enteredNumber(word));

/** Whether so many values can be compared. @param {number} count */
export const canCompare = (count) => count >= FEWEST_VALUES && count <= MOST_VALUES;
