/** Padding of a convolution as a number, which PyTorch takes; here it has a name. */

import { t } from "../words/locale.js";
import { Speller } from "./spelling.js";
import { enclosing } from "./tree.js";

/**
 * @import { Argument, SyntaxNode } from "./tree.js"
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
  if (padding > 0 && !keepsSize) {
    const change = paddedBefore(program, name, given, written, padding);
    return [{ ...place, message, ...change }];
  }
  const insert = padding === 0 ? '"valid"' : '"same"';
  return [{ ...place, message, label: t().bridge.write(insert), changes: [{ ...place, insert }] }];
}

/** A layer that pads, before the layer in a chain. @param {Program} program @param {string} name @param {Argument[]} given @param {SyntaxNode} written @param {number} padding */
function paddedBefore(program, name, given, written, padding) {
  const call = enclosing(written, "CallExpression");
  if (call?.parent?.name !== "ArrayExpression") return {};
  const format = given.find((each) => each.name === "data_format");
  const speller = new Speller(program, call.from);
  const layer = `${speller.name(name.replace("Conv", "ZeroPadding"))}(${padding}${format ? `, ${program.text(format)}` : ""})`;
  const line = program.code.slice(program.code.lastIndexOf("\n", call.from - 1) + 1, call.from);
  const gap = /^\s*$/.test(line) ? `\n${line}` : " ";
  return {
    label: t().bridge.write(layer),
    changes: [
      { from: call.from, to: call.from, insert: `${layer},${gap}` },
      { from: written.from, to: written.to, insert: '"valid"' },
    ],
  };
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
