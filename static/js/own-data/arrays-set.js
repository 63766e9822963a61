/** A data set out of arrays: NPZ files, and several NPY files. */

import { t } from "../words/locale.js";
import { openArchive, readEntry } from "./archive.js";
import { normalize, statistics } from "./data-set.js";
import { readNpy } from "./npy.js";
import { DataProblem, LARGEST_SET, checkSet } from "./problem.js";
import { splitRows } from "./split.js";

/**
 * @import { DataSet } from "./data-set.js"
 * @import { NumberArray, Numbers, TextArray } from "./npy.js"
 *
 * @typedef {Map<string, NumberArray | TextArray>} Arrays by name
 * @typedef {{test: number, seed: number, normalized: boolean, isClasses: boolean}} ArrayChoices
 *   `isClasses`: whether whole numbers as targets are classes
 */

/**
 * The arrays in an NPZ file.
 * @param {Blob} blob
 * @param {string} name
 * @returns {Promise<Arrays>}
 * @throws {DataProblem}
 */
export async function readNpz(blob, name) {
  const archive = await openArchive(blob, name);
  const entries = archive.entries.filter((entry) => entry.name.endsWith(".npy"));
  if (entries.length === 0) throw new DataProblem(t().dataFiles.arrays.none(name));
  checkTotal(entries, name);
  /** @type {Arrays} */
  const arrays = new Map();
  for (const entry of entries) {
    const array = readNpy(
      await readEntry(archive, entry, 2 * LARGEST_SET),
      t().dataFiles.arrays.inArchive(entry.name, name),
    );
    arrays.set(entry.name.replace(/\.npy$/, ""), array);
  }
  return arrays;
}

/** @param {{size: number}[]} entries @param {string} name @throws {DataProblem} */
function checkTotal(entries, name) {
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  if (total <= 2 * LARGEST_SET) return; // 64-bit numbers are read into 32 bits
  throw new DataProblem(
    t().dataFiles.arrays.tooLarge(name, Math.round(total / 2 ** 20), (2 * LARGEST_SET) / 2 ** 20),
  );
}

/** Whether there are arrays of samples and their targets. @param {Arrays} arrays */
export const hasTargets = (arrays) =>
  ["x_train", "y_train"].every((part) => arrays.has(part)) || (arrays.has("x") && arrays.has("y"));

/** Whether the arrays say which samples are for testing. @param {Arrays} arrays */
export const hasTest = (arrays) => arrays.has("x_test") && arrays.has("y_test");

/** @param {Arrays} arrays @param {string} name @returns {ArrayChoices} */
export function firstArrayChoices(arrays, name) {
  const y = numbers(arrays, arrays.has("x_train") ? "y_train" : "y", name);
  return { test: 0.2, seed: 0, normalized: false, isClasses: isLabels(y) };
}

/** @param {NumberArray} array */
const isLabels = ({ values, shape }) =>
  shape.length === 1 &&
  values.every((value) => Number.isInteger(value) && value >= 0 && value < 1000);

/**
 * @param {Arrays} arrays
 * @param {string} name of the file
 * @param {ArrayChoices} choices
 * @returns {DataSet}
 * @throws {DataProblem}
 */
export function arraysSet(arrays, name, choices) {
  const isSplit = arrays.has("x_train");
  const x = numbers(arrays, isSplit ? "x_train" : "x", name);
  const y = numbers(arrays, isSplit ? "y_train" : "y", name);
  checkPair(x, y, name, isSplit ? "x_train" : "x", isSplit ? "y_train" : "y");
  checkSet(4 * x.values.length);
  const shape = x.shape.slice(1);
  const targetShape = y.shape.slice(1);
  /** @type {DataSet["train"]} */
  let train;
  /** @type {DataSet["test"]} */
  let test;
  const cast = (/** @type {Numbers} */ values) =>
    choices.isClasses ? Int32Array.from(values) : Float32Array.from(values);
  if (isSplit && hasTest(arrays)) {
    const [xTest, yTest] = [numbers(arrays, "x_test", name), numbers(arrays, "y_test", name)];
    checkPair(xTest, yTest, name, "x_test", "y_test");
    if (xTest.shape.slice(1).join() !== shape.join()) {
      throw new DataProblem(
        t().dataFiles.arrays.shapesDiffer(name, sizes(shape), sizes(xTest.shape.slice(1))),
      );
    }
    train = { x: features(x.values), y: cast(y.values), targetShape, count: x.shape[0] };
    test = { x: features(xTest.values), y: cast(yTest.values), targetShape, count: xTest.shape[0] };
  } else {
    const groups =
      choices.isClasses && targetShape.length === 0 ? y.values : new Uint8Array(y.shape[0]);
    const rows = splitRows(groups, choices.test, choices.seed);
    const part = (/** @type {number[]} */ each) => ({
      x: features(rowsOf(x, each)),
      y: cast(rowsOf(y, each)),
      targetShape,
      count: each.length,
    });
    [train, test] = [part(rows.train), part(rows.test)];
  }
  const isTable = shape.length === 1 && train.x instanceof Float32Array;
  const normal = choices.normalized && isTable ? statistics(train.x, shape[0]) : null;
  if (normal)
    for (const each of [train.x, test.x]) normalize(/** @type {Float32Array} */ (each), normal);
  const classes = choices.isClasses ? classNames(arrays, train.y, test.y) : [];
  if (choices.isClasses && classes.length < 2)
    throw new DataProblem(t().dataFiles.arrays.oneClass(name));
  return {
    kind: "arrays",
    shape,
    train,
    test,
    classes,
    columns: texts(arrays, "column_names"),
    normal,
  };
}

/** Bytes are pixels and stay bytes; other numbers become float32. @param {Numbers} values */
const features = (values) => (values instanceof Uint8Array ? values : Float32Array.from(values));

/** @param {NumberArray} array @param {number[]} rows */
function rowsOf({ values, shape }, rows) {
  const size = shape.slice(1).reduce((a, b) => a * b, 1);
  const result = new /** @type {Float32ArrayConstructor} */ (values.constructor)(
    rows.length * size,
  );
  rows.forEach((row, at) => result.set(values.subarray(row * size, (row + 1) * size), at * size));
  return /** @type {Numbers} */ (result);
}

/** @param {Arrays} arrays @param {...ArrayLike<number>} targets */
function classNames(arrays, ...targets) {
  const named = texts(arrays, "class_names");
  let most = -1;
  for (const part of targets)
    for (let at = 0; at < part.length; at += 1) most = Math.max(most, part[at]);
  return Array.from(
    { length: Math.max(most + 1, named.length) },
    (_, label) => named[label] ?? String(label),
  );
}

/** @param {Arrays} arrays @param {string} part */
function texts(arrays, part) {
  const array = arrays.get(part);
  return array && "texts" in array ? array.texts : [];
}

/** @param {Arrays} arrays @param {string} part @param {string} name @returns {NumberArray} */
function numbers(arrays, part, name) {
  const array = arrays.get(part);
  const words = t().dataFiles.arrays;
  if (!array) throw new DataProblem(words.others(name, [...arrays.keys()]));
  if (!("values" in array)) throw new DataProblem(words.text(part, name));
  if (array.shape.length === 0) throw new DataProblem(words.single(part, name));
  if (array.values.some((value) => !Number.isFinite(value)))
    throw new DataProblem(words.notFinite(part, name));
  return array;
}

/** @param {NumberArray} x @param {NumberArray} y @param {string} name @param {string} xPart @param {string} yPart */
function checkPair(x, y, name, xPart, yPart) {
  const words = t().dataFiles.arrays;
  if (x.shape[0] !== y.shape[0])
    throw new DataProblem(words.unpaired(name, x.shape[0], xPart, y.shape[0], yPart));
  if (x.shape.length < 2) throw new DataProblem(words.noFeatures(xPart, name, sizes(x.shape)));
  if (x.shape[0] < 2) throw new DataProblem(words.tooFew(xPart, name, x.shape[0]));
}

/** @param {number[]} shape */
const sizes = (shape) => (shape.length === 0 ? "()" : shape.join(" × "));
