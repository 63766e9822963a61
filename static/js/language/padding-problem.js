/** Padding of a convolution as a number, which PyTorch takes; here it has a name. */

import { t } from "../locale.js";

/**
 * @import { Argument } from "./tree.js"
 * @import { Program } from "./program.js"
 * @import { Problem } from "./bridging.js"
 */

/** The parameters of a convolution, in order, as far as padding depends on them. */
const PARAMETERS = ["filters", "kernel_size", "strides", "padding"];
const CONVOLUTION = /^nn\.Conv([12])D$/;

/**
 * @param {Program} program
 * @param {string} name of what is called
 * @param {Argument[]} given
 * @returns {Problem[]}
 */
export function paddingProblem(program, name, given) {
  const [, dimensions] = CONVOLUTION.exec(name) ?? [];
  if (!dimensions || given.some(({ stars }) => stars)) return [];
  const value = (/** @type {string} */ parameter) =>
    given.find((each, at) => (each.name ?? PARAMETERS[at]) === parameter)?.value ?? null;
  const number = (/** @type {string} */ parameter, /** @type {number} */ usual) => {
    const written = value(parameter);
    return written ? sizeOf(program.text(written)) : usual;
  };
  const written = value("padding");
  const padding = number("padding", NaN);
  if (!written || Number.isNaN(padding)) return [];
  const place = { from: written.from, to: written.to };
  const message = t().bridge.padding(`nn.ZeroPadding${dimensions}D(${padding})`);
  // With larger steps, "same" would begin elsewhere.
  const keepsSize = number("kernel_size", NaN) === 2 * padding + 1 && number("strides", 1) === 1;
  if (padding > 0 && !keepsSize) return [{ ...place, message }];
  const insert = padding === 0 ? '"valid"' : '"same"';
  return [{ ...place, message, label: t().bridge.write(insert), changes: [{ ...place, insert }] }];
}

/** A number along each axis, NaN if it is not the same for all or not written out. @param {string} text */
function sizeOf(text) {
  const items = text
    .replace(/^\(|\)$/g, "")
    .split(",")
    .map((each) => each.trim());
  if (items.at(-1) === "") items.pop();
  const [first, ...others] = items;
  return /^\d+$/.test(first) && others.every((each) => each === first) ? Number(first) : NaN;
}
