/** A data set as the page makes it, and its NPZ file. */

import { zipped } from "../files/zip.js";
import { writeNpy } from "./npy.js";

/**
 * @import { About } from "./user-data.js"
 * @import { Numbers } from "./npy.js"
 *
 * @typedef {object} DataSet
 * @property {About["kind"]} kind
 * @property {number[]} shape of one sample
 * @property {Part} train
 * @property {Part} test
 * @property {string[]} classes names by label; none for numbers
 * @property {string[]} columns names of the features of a table
 * @property {{mean: Float32Array, deviation: Float32Array} | null} normal with which features were normalized
 * @typedef {{x: Numbers, y: Int32Array | Float32Array, targetShape?: number[], count: number}} Part
 */

/** Always the same, so that equal data sets have equal files. */
const WRITTEN = new Date(1980, 0, 1);

/** @param {DataSet} set @returns {Blob} an NPZ file */
export function encodeSet({ shape, train, test, classes, columns, normal }) {
  /** @type {[string, import("./npy.js").NumberArray | import("./npy.js").TextArray][]} */
  const arrays = [
    ["x_train", { values: train.x, shape: [train.count, ...shape] }],
    ["y_train", { values: train.y, shape: [train.count, ...(train.targetShape ?? [])] }],
    ["x_test", { values: test.x, shape: [test.count, ...shape] }],
    ["y_test", { values: test.y, shape: [test.count, ...(test.targetShape ?? [])] }],
  ];
  if (classes.length > 0) arrays.push(["class_names", { texts: classes, shape: [classes.length] }]);
  if (columns.length > 0)
    arrays.push(["column_names", { texts: columns, shape: [columns.length] }]);
  if (normal) {
    arrays.push(
      ["feature_mean", { values: normal.mean, shape }],
      ["feature_deviation", { values: normal.deviation, shape }],
    );
  }
  return zipped(new Map(arrays.map(([name, array]) => [`${name}.npy`, writeNpy(array)])), WRITTEN);
}

/** @param {DataSet} set @returns {About} */
export function aboutOf({ kind, shape, train, test, classes, columns }) {
  return { kind, shape, train: train.count, test: test.count, classes, columns };
}

/** How many samples each class has. @param {DataSet} set @returns {{name: string, train: number, test: number}[]} */
export function classCounts({ classes, train, test }) {
  const counts = classes.map((name) => ({ name, train: 0, test: 0 }));
  for (const label of train.y) if (counts[label]) counts[label].train += 1;
  for (const label of test.y) if (counts[label]) counts[label].test += 1;
  return counts;
}

/**
 * Mean and standard deviation of each feature; 1 for one that does not vary.
 * @param {ArrayLike<number>} x row by row
 * @param {number} width
 */
export function statistics(x, width) {
  const count = x.length / width;
  const mean = new Float64Array(width);
  const square = new Float64Array(width);
  for (let at = 0; at < x.length; at += 1) mean[at % width] += x[at] / count;
  for (let at = 0; at < x.length; at += 1)
    square[at % width] += (x[at] - mean[at % width]) ** 2 / count;
  return {
    mean: Float32Array.from(mean),
    deviation: Float32Array.from(square, (value) => Math.sqrt(value) || 1),
  };
}

/** Subtract the mean and divide by the deviation, in place. @param {Float32Array} x @param {NonNullable<DataSet["normal"]>} normal */
export function normalize(x, { mean, deviation }) {
  for (let at = 0; at < x.length; at += 1) {
    const feature = at % mean.length;
    x[at] = (x[at] - mean[feature]) / deviation[feature];
  }
}
