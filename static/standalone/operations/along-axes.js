/** Reductions, and operations along an axis. */

import { broadcastStrides, eachLine, places, zeros } from "../tensors.js";

/** @import { Operation } from "./moving.js" */
/** @import { Tensor } from "../tensors.js" */

/**
 * @param {number} initial @param {(sum: number, x: number) => number} join
 * @param {(sum: number, count: number) => number} [finish]
 * @returns {Operation}
 */
const reduction =
  (initial, join, finish = (sum) => sum) =>
  ([x], { axes }, [output]) => {
    const result = zeros(output);
    const kept = x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
    const sums = new Float64Array(result.data.length).fill(initial);
    places(x.shape, broadcastStrides(kept, x.shape)).forEach(
      (to, i) => (sums[to] = join(sums[to], x.data[i])),
    );
    const count = x.data.length / Math.max(1, sums.length);
    sums.forEach((sum, i) => (result.data[i] = finish(sum, count)));
    return [result];
  };

/** Products of integers need more than 53 bits. @type {Operation} */
const product = (inputs, attrs, outputs) => {
  const isFloat = outputs[0].dtype.startsWith("float");
  return reduction(1, isFloat ? (sum, x) => sum * x : Math.imul)(inputs, attrs, outputs);
};

/** The place of the largest or smallest element of each line; NaN counts as such. @param {1 | -1} sign @returns {Operation} */
const extreme =
  (sign) =>
  ([x], { axis }, [output]) => {
    const result = zeros(output);
    eachLine(x.shape, axis, (first, step, size, line) => {
      let best = 0;
      for (let i = 1; i < size && !Number.isNaN(x.data[first + best * step]); i += 1) {
        const value = x.data[first + i * step];
        if (Number.isNaN(value) || sign * value > sign * x.data[first + best * step]) best = i;
      }
      result.data[line] = best;
    });
    return [result];
  };

/** Equal elements keep their order, and NaN comes last. @type {Operation} */
function argsort([x], { axis, descending }, [output]) {
  const result = zeros(output);
  const sign = descending ? -1 : 1;
  eachLine(x.shape, axis, (first, step, size) => {
    const value = (/** @type {number} */ i) => x.data[first + i * step];
    const order = Array.from({ length: size }, (_, i) => i).sort((i, j) => {
      const [a, b] = [value(i), value(j)];
      if (Number.isNaN(a) || Number.isNaN(b))
        return sign * (+Number.isNaN(a) - +Number.isNaN(b)) || i - j;
      return sign * (a - b) || i - j;
    });
    order.forEach((from, i) => (result.data[first + i * step] = from));
  });
  return [result];
}

/** @type {Operation} */
function cumsum([x], { axis, exclusive, reverse }, [output]) {
  const result = zeros(output);
  eachLine(x.shape, axis, (first, step, size) => {
    let sum = 0;
    for (let n = 0; n < size; n += 1) {
      const at = first + (reverse ? size - 1 - n : n) * step;
      if (exclusive) result.data[at] = sum;
      sum += x.data[at];
      if (!exclusive) result.data[at] = sum;
    }
  });
  return [result];
}

/**
 * The softmax of lines, or its logarithm.
 * @param {Tensor} x @param {number} axis @param {boolean} [asLogarithm]
 */
export function softmax(x, axis, asLogarithm = false) {
  const result = zeros(x);
  eachLine(x.shape, axis, (first, step, size) => {
    let largest = -Infinity;
    for (let i = 0; i < size; i += 1) largest = Math.max(largest, x.data[first + i * step]);
    let sum = 0;
    for (let i = 0; i < size; i += 1) sum += Math.exp(x.data[first + i * step] - largest);
    for (let i = 0; i < size; i += 1) {
      const shifted = x.data[first + i * step] - largest;
      result.data[first + i * step] = asLogarithm
        ? shifted - Math.log(sum)
        : Math.exp(shifted) / sum;
    }
  });
  return result;
}

/** @type {Operation} */
function layerNormalization([x, gamma, beta], { epsilon }, [output]) {
  const result = zeros(output);
  eachLine(x.shape, x.shape.length - 1, (first, _, size) => {
    let mean = 0;
    for (let i = 0; i < size; i += 1) mean += x.data[first + i] / size;
    let variance = 0;
    for (let i = 0; i < size; i += 1) variance += (x.data[first + i] - mean) ** 2 / size;
    const scale = 1 / Math.sqrt(variance + epsilon);
    for (let i = 0; i < size; i += 1) {
      result.data[first + i] = (x.data[first + i] - mean) * scale * gamma.data[i] + beta.data[i];
    }
  });
  return [result];
}

/** @type {Record<string, Operation>} */
export const ALONG_AXES = {
  reduce_sum: reduction(0, (sum, x) => sum + x),
  reduce_mean: reduction(
    0,
    (sum, x) => sum + x,
    (sum, count) => sum / count,
  ),
  reduce_max: reduction(-Infinity, Math.max),
  reduce_min: reduction(Infinity, Math.min),
  reduce_prod: product,
  argmax: extreme(1),
  argmin: extreme(-1),
  argsort,
  cumsum,
  softmax: ([x], { axis }) => [softmax(x, axis)],
  log_softmax: ([x], { axis }) => [softmax(x, axis, true)],
  layer_normalization: layerNormalization,
};
