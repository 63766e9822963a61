/** Values of arguments as the fields of cards show them, and the texts that they write. */

import { t } from "../words/locale.js";
import { literalOf } from "./calls.js";
import { isNumber } from "./syntax.js";

/** @import { Field } from "./catalogue.js" */
/** @import { Value } from "./types.js" */

/** The text of a field; null if the field cannot show the value. @param {Field} field @param {Value | null} value */
export function inputText(field, value) {
  if (value === null) return null;
  switch (field.type) {
    case "count":
      return value.type === "int" ? String(value.value) : null;
    case "number":
      return isNumber(value) ? numberText(value.value) : null;
    case "size":
      return sizeText(value);
    case "flag":
      return value.type === "bool" ? valueText(value) : null;
    case "shape":
      return value.type === "tuple" || value.type === "list"
        ? value.value.map(valueText).join(" × ")
        : null;
    default:
      return valueText(value);
  }
}

/** One number for all axes. @param {Value} value */
function sizeText(value) {
  if (value.type === "int") return String(value.value);
  if (value.type !== "tuple" && value.type !== "list") return null;
  const sizes = value.value.map(valueText);
  return sizes.length > 0 && sizes.every((size) => size === sizes[0]) ? sizes[0] : null;
}

/** As Python writes it. @param {Value} value @returns {string} */
export function valueText(value) {
  switch (value.type) {
    case "none":
      return "None";
    case "bool":
      return value.value ? "True" : "False";
    case "string":
      return `"${value.value}"`;
    case "tuple":
      return `(${value.value.map(valueText).join(", ")}${value.value.length === 1 ? "," : ""})`;
    case "list":
      return `[${value.value.map(valueText).join(", ")}]`;
    default:
      return numberText(value.value);
  }
}

/** Python reads JavaScript's numbers. @param {number} value */
export const numberText = (value) => String(Number(value.toPrecision(12)));

/** A number as it was entered: keyboards for Chinese write "１２" and "0．5". @param {string} text */
export const enteredNumber = (text) => text.normalize("NFKC").trim();

/** As a card shows a literal: "relu" without quotes, None as "none". @param {string} text */
export const titleOf = (text) =>
  text === "None" ? t().blocks.field.none : text.replace(/^["']|["']$/g, "");

/** A text with the quotation marks that the program uses. @param {string} literal @param {string} program */
export function quoted(literal, program) {
  if (!/^"[^"'\\]*"$/.test(literal)) return literal;
  const count = (/** @type {string} */ mark) => program.split(mark).length;
  return count("'") > count('"') ? `'${literal.slice(1, -1)}'` : literal;
}

/** Sizes as a tuple: "28 × 28" is "(28, 28)"; null if they are not whole numbers. @param {string} text */
export function shapeLiteral(text) {
  const sizes = text
    .replace(/^\s*[([]|[)\]]\s*$/g, "")
    .split(/[\s,×x*]+/)
    .filter(Boolean);
  if (sizes.length === 0 || !sizes.every((size) => /^(-1|[1-9]\d*|None)$/.test(size))) return null;
  return `(${sizes.join(", ")}${sizes.length === 1 ? "," : ""})`;
}

/**
 * The next smaller or larger number. Whole numbers change by about an eighth, so that 128 takes few
 * clicks from 32, and one step forth and one back lead to the same number.
 * @param {string} text
 * @param {1 | -1} direction
 * @param {{least?: number, most?: number, step?: number, type?: string}} field
 * @param {boolean} [double] by factors of 2
 */
export function stepped(
  text,
  direction,
  { least = -Infinity, most = Infinity, step, type },
  double = false,
) {
  const value = literalOf(text);
  const number = isNumber(value) ? value.value : 0;
  const limited = (/** @type {number} */ next) => numberText(Math.min(most, Math.max(least, next)));
  if (double) return limited(direction > 0 ? number * 2 : Math.ceil(number / 2));
  if (type === "number")
    return limited(Math.round((number + direction * (step ?? 0.1)) * 1e6) / 1e6);
  const near = direction > 0 ? number : number - 1;
  const width = near < 16 ? 1 : 2 ** (Math.floor(Math.log2(near)) - 3);
  return limited(number + direction * width);
}

/** The steps of a slider of learning rates: powers of ten. */
export const RATE_SLIDER = { least: -5, most: 0, step: 0.05 };

/** The learning rate at a place of the slider, with two digits. @param {number} place */
export const rateAt = (place) => Number((10 ** place).toPrecision(2));

/** @param {number} rate */
export function placeOfRate(rate) {
  const { least, most } = RATE_SLIDER;
  return rate > 0 ? Math.min(most, Math.max(least, Math.log10(rate))) : least;
}
