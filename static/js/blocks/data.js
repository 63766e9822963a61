/** The shapes of data, before and after a program prepares it for training. */

import { argumentOf, valueOf } from "./calls.js";
import { DATA_SETS } from "../records/texts.js";
import { children, elements, evaluate, parts } from "./syntax.js";

/** @import { Node } from "./syntax.js" */
/** @import { Source } from "./calls.js" */
/** @import { Known } from "./expressions.js" */
/** @import { Brought, Call, Samples, Shape } from "./types.js" */

/** @param {Shape} shape @param {string} dtype @returns {Known} */
export const array = (shape, dtype) => ({ is: "array", samples: { shape, dtype } });

/** @param {Known[]} items @returns {Known} */
const tuple = (...items) => ({ is: "tuple", items });

/** Data sets of `pg.data` that are offered, by the name of the function. */
export const SETS = Object.fromEntries(
  Object.entries(DATA_SETS).flatMap(([name, { samples }]) => (samples ? [[name, samples]] : [])),
);

/** Whether a call divides its data by a ratio. @param {Call | null} call */
export const hasRatio = (call) =>
  argumentOf(call, "ratio") !== null && argumentOf(call, "ratio")?.value?.type !== "none";

/** The shape of a sample; null in it for what the program computes. @param {string} kind @param {Call} [call] @returns {Shape} */
export function shapeOf(kind, call) {
  const size = call ? argumentOf(call, "size") : null;
  if (!size) return SETS[kind].shape;
  const side = size.value?.type === "int" ? size.value.value : null;
  return [side, side, 3];
}

/**
 * What a function of `pg.data` returns; null if it is not known.
 * @param {string} name such as "data.mnist"
 * @param {Call} [call]
 * @returns {Known}
 */
export function dataOf(name, call) {
  const kind = name.slice("data.".length);
  if (!name.startsWith("data.") || !Object.hasOwn(SETS, kind)) return null;
  const { sort, dtype, classes } = SETS[kind];
  const shape = shapeOf(kind, call);
  const targets = { shape: [], dtype: "int32", classes };
  const part = () => tuple(array(shape, dtype), { is: "array", samples: targets });
  // Points are divided by a ratio, images always are.
  return sort === "images" || hasRatio(call ?? null) ? tuple(part(), part()) : part();
}

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
  const sizes =
    given.length === 1 && given[0].name === "TupleExpression" ? elements(given[0]).flat() : given;
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

/** The result of indexing an array. @param {Samples} samples @param {Node[]} index @returns {Known} */
export function arrayElement(samples, index) {
  const axes = parts(index);
  if (axes.length === 1 && axes[0][0].name !== "Number" && axes[0][0].name !== "None") {
    // A part of the samples. A slice has samples of all classes.
    const isSlice = axes[0].some(({ name }) => name === ":");
    return isSlice ? { is: "array", samples } : array(samples.shape, samples.dtype);
  }
  const names = axes.map((axis) => (axis.length === 1 ? axis[0].name : "slice"));
  if (names.join() === "Ellipsis,None") return array([...samples.shape, 1], samples.dtype);
  return null;
}
