/** Operations that move elements. Each takes its inputs, attributes and the specs of its outputs. */

import {
  broadcast,
  eachLine,
  lines,
  pick,
  sizeOf,
  stridesOf,
  transpose,
  zeros,
} from "../tensors.js";

/** @import { Spec, Tensor } from "../tensors.js" */
/** @typedef {(inputs: Tensor[], attrs: any, outputs: Spec[]) => Tensor[]} Operation */

/** @type {Operation} */
const broadcasted = ([x], _, [output]) => [broadcast(x, output.shape)];

/** @type {Operation} */
const filled = (_, attrs, [output]) => {
  const result = zeros(output);
  result.data.fill(Number(attrs.value ?? 0));
  return [result];
};

/** Rows without the first axis of the result are stacked. @type {Operation} */
function concat(inputs, { axis = 0 }, [output]) {
  const result = zeros(output);
  const { before, step } = lines(output.shape, axis);
  const line = output.shape[axis] * step;
  let at = 0;
  for (const x of inputs) {
    const length = before ? x.data.length / before : 0;
    for (let outer = 0; outer < before; outer += 1) {
      result.data.set(
        /** @type {any} */ (x.data.subarray(outer * length, (outer + 1) * length)),
        outer * line + at,
      );
    }
    at += length;
  }
  return [result];
}

/** @type {Operation} */
function slice([x], { begin }, [output]) {
  const strides = stridesOf(x.shape);
  const first = strides.reduce((sum, stride, axis) => sum + stride * begin[axis], 0);
  return [pick(x, output.shape, strides, first)];
}

/** @type {Operation} */
function stridedSlice([x], { slices }, [output]) {
  const own = stridesOf(x.shape);
  let first = 0;
  const strides = slices.map((/** @type {any[]} */ [start, , step], /** @type {number} */ axis) => {
    const size = x.shape[axis];
    const by = step ?? 1;
    const begin = start === null ? (by < 0 ? size - 1 : 0) : start < 0 ? start + size : start;
    first += own[axis] * Math.min(Math.max(begin, 0), by < 0 ? size - 1 : size);
    return own[axis] * by;
  });
  return [pick(x, output.shape, strides, first)];
}

/** @type {Operation} */
function pad([x], { padding, value }, [output]) {
  const result = zeros(output);
  result.data.fill(Number(value));
  const strides = stridesOf(output.shape);
  /** @param {number} axis @param {number} from @param {number} to */
  const copy = (axis, from, to) => {
    if (axis === x.shape.length) {
      result.data[to] = x.data[from];
      return;
    }
    const step = sizeOf(x.shape.slice(axis + 1));
    for (let i = 0; i < x.shape[axis]; i += 1) {
      const at = i + (padding[axis]?.[0] ?? 0);
      if (at >= 0 && at < output.shape[axis])
        copy(axis + 1, from + i * step, to + at * strides[axis]);
    }
  };
  copy(0, 0, 0);
  return [result];
}

/** @type {Operation} */
function roll([x], { shift }, [output]) {
  const result = zeros(output);
  const strides = stridesOf(x.shape);
  for (let i = 0; i < result.data.length; i += 1) {
    let from = 0;
    strides.forEach((stride, axis) => {
      const size = x.shape[axis];
      const at = Math.floor(i / stride) % size;
      from += ((((at - shift[axis]) % size) + size) % size) * stride;
    });
    result.data[i] = x.data[from];
  }
  return [result];
}

/** @type {Operation} */
function gather([table, indices], { axis = 0 }, [output]) {
  const result = zeros(output);
  const { before, size, step } = lines(table.shape, axis);
  const count = indices.data.length;
  for (let outer = 0; outer < before; outer += 1) {
    indices.data.forEach((/** @type {number} */ row, /** @type {number} */ i) => {
      if (row < 0 || row >= size) throw new RangeError(`${row} is not a row of ${size}`);
      const from = (outer * size + row) * step;
      result.data.set(
        /** @type {any} */ (table.data.subarray(from, from + step)),
        (outer * count + i) * step,
      );
    });
  }
  return [result];
}

/** @type {Operation} */
function takeAlongAxis([x, indices], { axis }, [output]) {
  const result = zeros(output);
  const own = lines(x.shape, axis);
  eachLine(indices.shape, axis, (first, step, size, line) => {
    const start = Math.floor(line / step) * own.size * step + (line % step);
    for (let i = 0; i < size; i += 1) {
      result.data[first + i * step] = x.data[start + indices.data[first + i * step] * step];
    }
  });
  return [result];
}

/**
 * The updates of each row, combined in their order; 0 for none.
 * @param {(x: number, y: number) => number} combine
 * @returns {Operation}
 */
const scattered =
  (combine) =>
  ([updates, indices], { axis = 0, rows }, [output]) => {
    const result = zeros(output);
    const begun = new Uint8Array(result.data.length);
    const before = sizeOf(output.shape.slice(0, axis));
    const step = sizeOf(output.shape.slice(axis + 1));
    const count = indices.data.length;
    for (let outer = 0; outer < before; outer += 1) {
      for (let i = 0; i < count; i += 1) {
        const to = (outer * rows + indices.data[i]) * step;
        for (let n = 0; n < step; n += 1) {
          const update = updates.data[(outer * count + i) * step + n];
          result.data[to + n] = begun[to + n] ? combine(result.data[to + n], update) : update;
          begun[to + n] = 1;
        }
      }
    }
    return [result];
  };

/** @type {Operation} */
function gatherSum([x, sources, targets, weights], _, [output]) {
  const result = zeros(output);
  const step = sizeOf(output.shape.slice(1));
  const parts = weights ? sizeOf(weights.shape.slice(1)) : 1;
  for (let edge = 0; edge < targets.data.length; edge += 1) {
    const from = sources.data[edge] * step;
    const to = targets.data[edge] * step;
    for (let n = 0; n < step; n += 1) {
      const part = edge * parts + Math.floor((n * parts) / step);
      result.data[to + n] += x.data[from + n] * (weights ? weights.data[part] : 1);
    }
  }
  return [result];
}

/** @type {Operation} */
function oneHot([indices], { depth }, [output]) {
  const result = zeros(output);
  indices.data.forEach((/** @type {number} */ index, /** @type {number} */ i) => {
    if (index >= 0 && index < depth) result.data[i * depth + index] = 1;
  });
  return [result];
}

/** @type {Operation} */
const unstackRows = ([x], _, outputs) =>
  outputs.map((output, row) => {
    const size = sizeOf(output.shape);
    return { ...output, data: x.data.slice(row * size, (row + 1) * size) };
  });

/** @type {Record<string, Operation>} */
export const MOVING = {
  broadcast_to: broadcasted,
  fill: filled,
  concat,
  stack_rows: concat,
  unstack_rows: unstackRows,
  slice,
  strided_slice: stridedSlice,
  transpose: ([x], { perm }) => [transpose(x, perm)],
  pad,
  roll,
  gather,
  take_along_axis: takeAlongAxis,
  scatter_add: scattered((x, y) => x + y),
  gather_sum: gatherSum,
  weighted_gather_sum: gatherSum,
  segment_max: scattered(Math.max),
  segment_min: scattered(Math.min),
  one_hot: oneHot,
};
