/** The arguments of a layer and the checks that the rules of shapes share. */

import { t } from "../../words/locale.js";
import { valueOf } from "../calls.js";
import { entryOf } from "../catalogue.js";

/** @import { Call, LayerMend, Shape, Value } from "../types.js" */

/** @typedef {{shape: Shape | null, parameters: number | null}} Result null: known after the first run */
/** @typedef {(input: Shape, layer: LayerArguments, inputs: Shape[]) => Result} Rule */
/** @typedef {(...given: any[]) => Rule} Family rules of one form; a layer's record has its name and the arguments for the layer's rule */

/** The layer cannot be built. The message says so in plain words, in the language of the page. */
export class Impossible extends Error {
  /** @param {string} message @param {LayerMend | null} [mend] */
  constructor(message, mend = null) {
    super(message);
    this.mend = mend;
  }
}

/** An argument is computed by the program, so that nothing is known before it runs. */
export class Unknown extends Error {}

export class LayerArguments {
  /** @param {Call} call */
  constructor(call) {
    this.call = call;
    this.kind = call.kind;
  }

  /** @param {string} parameter */
  isKnown(parameter) {
    return valueOf(this.call, parameter) !== null;
  }

  /** @param {string} parameter @returns {Value} */
  value(parameter) {
    const value = valueOf(this.call, parameter);
    if (value === null) throw new Unknown();
    return value;
  }

  /** A whole number of at least `least`. @param {string} parameter @param {number} [least] */
  whole(parameter, least = 1) {
    return this.checked(parameter, this.value(parameter), least);
  }

  /** A whole number; `otherwise` for None. @param {string} parameter @param {number} otherwise */
  wholeOr(parameter, otherwise) {
    return this.value(parameter).type === "none" ? otherwise : this.whole(parameter);
  }

  /** @param {string} parameter @param {Value} value @param {number} least @returns {number} */
  checked(parameter, value, least) {
    if (value.type !== "int" || value.value < least) {
      const isAlone = valueOf(this.call, parameter) === value;
      /** @type {LayerMend | null} */
      const mend = isAlone ? { set: [parameter, String(least)] } : null;
      const label = entryOf(this.kind)?.fields.find(
        (field) => field.parameter === parameter,
      )?.label;
      const name = label ? t().blocks.fields[label] : parameter;
      throw new Impossible(t().shapes.whole(name, this.kind, least), mend);
    }
    return value.value;
  }

  /** @param {string} parameter @returns {boolean} */
  flag(parameter) {
    return Boolean(this.value(parameter).value);
  }

  /** @param {string} parameter @returns {string} */
  word(parameter) {
    const { type, value } = this.value(parameter);
    return type === "string" ? value.toLowerCase() : "";
  }

  /** One number for each axis, or one for all. @param {string} parameter @param {number} axes @param {number} [least] @returns {number[]} */
  sizes(parameter, axes, least = 1) {
    const value = this.value(parameter);
    const list =
      value.type === "tuple" || value.type === "list" ? value.value : Array(axes).fill(value);
    if (list.length !== axes) {
      throw new Impossible(t().shapes.sizes(parameter, this.kind, axes));
    }
    return list.map((each) => this.checked(parameter, each, least));
  }

  /** Numbers before and after along each axis. @param {string} parameter @param {number} axes */
  sides(parameter, axes) {
    const value = this.value(parameter);
    const isList = value.type === "tuple" || value.type === "list";
    /** @type {Value[]} */
    let items = isList ? value.value : Array(axes).fill(value);
    if (axes === 1 && isList) items = [value];
    if (items.length !== axes) throw new Impossible(t().shapes.items(parameter, this.kind, axes));
    return items.map((item) => {
      const pair = item.type === "tuple" || item.type === "list" ? item.value : [item, item];
      if (pair.length !== 2) throw new Impossible(t().shapes.pairs(parameter, this.kind));
      return pair.map((each) => this.checked(parameter, each, 0));
    });
  }

  /** @param {Shape} input */
  image(input) {
    if (input.length !== 3) throw wrongRank(this.kind, 3, input);
  }

  /** @param {Shape} input */
  sequence(input) {
    if (input.length !== 2) throw wrongRank(this.kind, 2, input);
  }

  /** The last size of the input, which the weights depend on. @param {Shape} input */
  features(input) {
    if (input.length === 0) {
      throw new Impossible(t().shapes.oneForEach(this.kind));
    }
    return known(input[input.length - 1]);
  }
}

/**
 * A layer does not take samples with so many axes.
 * @param {string} kind of the layer
 * @param {number} rank of the samples that it takes
 * @param {Shape} input
 */
export function wrongRank(kind, rank, input) {
  const words = t().shapes;
  const [expected, help] =
    rank === 3
      ? [words.images, "Reshape((height, width, channels))"]
      : rank === 2
        ? [words.sequences, "Reshape((steps, features))"]
        : [words.row, "Flatten()"];
  const sizes = rank === 1 ? null : rearranged(rank, input);
  /** @type {LayerMend | null} */
  const mend =
    rank === 1
      ? { before: ["Flatten", ""] }
      : sizes && { before: ["Reshape", `(${sizes.join(", ")})`] };
  return new Impossible(words.wrongRank(kind, expected, shapeText(input), help), mend);
}

/** The numbers of a sample as an image or as a sequence; null if nothing says how. @param {number} rank @param {Shape} input */
function rearranged(rank, input) {
  /** @type {number[]} */
  const sizes = input.filter((size) => size !== null);
  if (sizes.length < input.length || sizes.length === 0) return null;
  if (sizes.length === rank - 1) return [...sizes, 1];
  if (rank === 2) return sizes.length === 3 ? [sizes[0], sizes[1] * sizes[2]] : null;
  const found = [1, 3]
    .map((channels) => ({ channels, side: Math.sqrt(sizes[0] / channels) }))
    .find(({ side }) => side > 1 && Number.isInteger(side));
  return sizes.length === 1 && found ? [found.side, found.side, found.channels] : null;
}

/** The largest number up to `most` that divides all of `numbers`. @param {number} most @param {number[]} numbers */
export function divisorUpTo(most, ...numbers) {
  let divisor = Math.max(1, most);
  while (numbers.some((number) => number % divisor !== 0)) divisor -= 1;
  return divisor;
}

/** @param {number | null} size @returns {number} */
export function known(size) {
  if (size === null) throw new Unknown();
  return size;
}

/** @param {(number | null)[]} sizes @returns {number} */
export const product = (sizes) =>
  sizes.reduce((/** @type {number} */ all, size) => all * known(size), 1);

/** @param {Shape} shape */
export const shapeText = (shape) =>
  shape.length === 0
    ? t().shapes.oneNumber
    : shape.map((size) => size ?? t().shapes.any).join(" × ");
