/** The arguments of a layer and the checks that the rules of shapes share. */

import { t } from "../../locale.js";
import { valueOf } from "../calls.js";

/** @import { Call, Shape, Value } from "../types.js" */

/** @typedef {{shape: Shape | null, parameters: number | null}} Result null: known after the first run */
/** @typedef {(input: Shape, layer: LayerArguments, inputs: Shape[]) => Result} Rule */

/** The layer cannot be built. The message says so in plain words, in the language of the page. */
export class Impossible extends Error {}

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
      throw new Impossible(t().shapes.whole(parameter, this.kind, least));
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
    if (input.length !== 3)
      throw this.wrongRank(input, t().shapes.images, "Reshape((height, width, channels))");
  }

  /** @param {Shape} input */
  sequence(input) {
    if (input.length !== 2)
      throw this.wrongRank(input, t().shapes.sequences, "Reshape((steps, features))");
  }

  /** @param {Shape} input @param {string} expected @param {string} help */
  wrongRank(input, expected, help) {
    return new Impossible(t().shapes.wrongRank(this.kind, expected, shapeText(input), help));
  }

  /** The last size of the input, which the weights depend on. @param {Shape} input */
  features(input) {
    if (input.length === 0) {
      throw new Impossible(t().shapes.oneForEach(this.kind));
    }
    return known(input[input.length - 1]);
  }
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
