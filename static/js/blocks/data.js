/** The shapes of data, and of what a program makes of it before training. */

import { valueOf } from "./calls.js";
import { children, elements, evaluate, parts } from "./syntax.js";

/** @import { Node } from "./syntax.js" */
/** @import { Source } from "./calls.js" */
/** @import { Known } from "./expressions.js" */
/** @import { Brought, Call, Samples, Shape } from "./types.js" */

/** @param {Shape} shape @param {string} dtype @returns {Known} */
const array = (shape, dtype) => ({ is: "array", samples: { shape, dtype } });

/** @param {Known[]} items @returns {Known} */
const tuple = (...items) => ({ is: "tuple", items });

const points = () => tuple(array([2], "float32"), array([], "int32"));
const digits = () => tuple(array([28, 28], "uint8"), array([], "int32"));

/** What the functions of `pg.data` return. @type {Record<string, () => Known>} */
const DATA = {
  "data.mnist": () => tuple(digits(), digits()),
  "data.spiral": points,
  "data.circle": points,
  "data.xor": points,
  "data.gauss": points,
};

/** Data sets of points in the plane, which can replace each other. */
export const POINTS = ["spiral", "circle", "xor", "gauss"];

/** @param {string} name such as "data.mnist" @returns {Known} null if it is not known */
export const dataOf = (name) => (Object.hasOwn(DATA, name) ? DATA[name]() : null);

/**
 * What `pg.data.load` returns: a data set of the library, or one of the visitor in two parts.
 * @param {Call} call
 * @param {Brought} brought
 * @returns {Known}
 */
export function loadedData(call, brought) {
  const name = valueOf(call, "name");
  if (name?.type !== "string") return null;
  const set = brought(name.value);
  if (!set) return dataOf(`data.${name.value}`);
  const part = tuple({ is: "array", samples: set.samples }, { is: "array", samples: set.targets });
  return tuple(part, part);
}

/**
 * What a method makes of an array.
 * @param {Samples} samples
 * @param {string} method
 * @param {Node} node the call
 * @param {Source} source
 * @returns {Known}
 */
export function arrayMethod(samples, method, node, source) {
  if (method === "astype") return array(samples.shape, "float32");
  if (method === "copy" || method === "clip") return array(samples.shape, samples.dtype);
  if (method !== "reshape") return null;
  const given = elements(children(node)[1]).flat();
  const sizes = given.length === 1 && given[0].name === "TupleExpression" ? elements(given[0]).flat() : given;
  // The first size is the number of samples.
  const values = sizes.slice(1).map((each) => evaluate(each, source.text, source.constant));
  /** @type {number[]} */
  const known = values.flatMap((value) => (value?.type === "int" ? [value.value] : []));
  if (sizes.length === 0 || known.length !== values.length) return null;
  return array(completed(known, samples.shape), samples.dtype);
}

/** With the size in place of -1. @param {number[]} sizes @param {Shape} before @returns {Shape} */
function completed(sizes, before) {
  const rest = product(sizes.filter((size) => size !== -1));
  const all = before.every((size) => size !== null) ? product(before) : null;
  return sizes.map((size) => (size === -1 ? (all === null ? null : all / rest) : size));
}

/** @param {number[]} sizes */
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);

/** What an index makes of an array. @param {Samples} samples @param {Node[]} index @returns {Known} */
export function arrayElement(samples, index) {
  const axes = parts(index);
  if (axes.length === 1 && axes[0][0].name !== "Number" && axes[0][0].name !== "None") {
    return array(samples.shape, samples.dtype); // a part of the samples
  }
  const names = axes.map((axis) => (axis.length === 1 ? axis[0].name : "slice"));
  if (names.join() === "Ellipsis,None") return array([...samples.shape, 1], samples.dtype);
  return null;
}
