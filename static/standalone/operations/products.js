/** Matrix products, convolutions, pooling, and operations of recurrent and attention layers. */

import { broadcast, pick, sizeOf, stridesOf, transpose, zeros } from "../tensors.js";
import { softmax } from "./along-axes.js";

/** @import { Operation } from "./moving.js" */
/** @import { Tensor } from "../tensors.js" */

/** @param {Tensor} x with its last two axes exchanged */
const flipped = (x) => {
  const rank = x.shape.length;
  return transpose(x, [...x.shape.keys()].slice(0, rank - 2).concat(rank - 1, rank - 2));
};

/** @type {Operation} */
function matmul([a, b], attrs, [output]) {
  if (attrs.transpose_a) a = flipped(a);
  if (attrs.transpose_b) b = flipped(b);
  const [rows, inner] = a.shape.slice(-2);
  const columns = /** @type {number} */ (b.shape.at(-1));
  const stack = output.shape.slice(0, -2);
  const left = broadcast(a, [...stack, rows, inner]).data;
  const right = broadcast(b, [...stack, inner, columns]).data;
  const result = zeros(output);
  const sums = new Float64Array(columns);
  for (let matrix = 0, row = 0; matrix < sizeOf(stack); matrix += 1) {
    for (let i = 0; i < rows; i += 1, row += 1) {
      sums.fill(0);
      for (let k = 0; k < inner; k += 1) {
        const factor = left[row * inner + k];
        const from = (matrix * inner + k) * columns;
        for (let j = 0; j < columns; j += 1) sums[j] += factor * right[from + j];
      }
      result.data.set(sums, row * columns);
    }
  }
  return [result];
}

/**
 * Call `visit` for each pixel of each window that is within the image.
 * @param {number[]} image its shape: (batch, height, width, channels)
 * @param {number[]} shape of the output
 * @param {number[]} size of a window
 * @param {any} attrs strides, padding, dilations
 * @param {(to: number, from: number, tap: number) => void} visit the pixels of output and image, and
 *   the number of the pixel in the window
 */
function eachTap(image, shape, size, { strides, padding, dilations = [1, 1] }, visit) {
  const [, height, width] = image;
  const [batch, rows, columns] = shape;
  for (let to = 0, n = 0; n < batch; n += 1) {
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1, to += 1) {
        for (let tap = 0; tap < size[0] * size[1]; tap += 1) {
          const y = row * strides[0] - padding[0][0] + Math.floor(tap / size[1]) * dilations[0];
          const x = column * strides[1] - padding[1][0] + (tap % size[1]) * dilations[1];
          if (y >= 0 && y < height && x >= 0 && x < width)
            visit(to, (n * height + y) * width + x, tap);
        }
      }
    }
  }
}

/** @type {Operation} */
function conv2d([image, filters], attrs, [output]) {
  const [height, width, channels, out] = filters.shape;
  const { groups = 1 } = attrs;
  const each = out / groups;
  const sums = new Float64Array(sizeOf(output.shape));
  const all = channels * groups;
  eachTap(image.shape, output.shape, [height, width], attrs, (to, from, tap) => {
    for (let channel = 0; channel < all; channel += 1) {
      const value = image.data[from * all + channel];
      const first = Math.floor(channel / channels) * each;
      const weights = (tap * channels + (channel % channels)) * out + first;
      for (let i = 0; i < each; i += 1)
        sums[to * out + first + i] += value * filters.data[weights + i];
    }
  });
  const result = zeros(output);
  result.data.set(sums);
  return [result];
}

/**
 * Transposed convolution: each pixel of the image, times the filters, is added to a window of the
 * result.
 * @type {Operation}
 */
function conv2dInputGradient([filters, image], attrs, [output]) {
  const [height, width, channels, out] = filters.shape;
  const { groups = 1 } = attrs;
  const [all, each] = [channels * groups, out / groups];
  const sums = new Float64Array(sizeOf(output.shape));
  eachTap(output.shape, image.shape, [height, width], attrs, (from, to, tap) => {
    for (let channel = 0; channel < all; channel += 1) {
      const first = Math.floor(channel / channels) * each;
      const weights = (tap * channels + (channel % channels)) * out + first;
      for (let i = 0; i < each; i += 1) {
        sums[to * all + channel] += image.data[from * out + first + i] * filters.data[weights + i];
      }
    }
  });
  const result = zeros(output);
  result.data.set(sums);
  return [result];
}

/** @type {Operation} */
function maxPool([image], attrs, [output]) {
  const result = zeros(output);
  result.data.fill(-Infinity);
  const channels = image.shape[3];
  eachTap(image.shape, output.shape, attrs.pool_size, attrs, (to, from) => {
    for (let channel = 0; channel < channels; channel += 1) {
      const at = to * channels + channel;
      result.data[at] = Math.max(result.data[at], image.data[from * channels + channel]);
    }
  });
  return [result];
}

/** Padding does not count. @type {Operation} */
function avgPool([image], attrs, [output]) {
  const channels = image.shape[3];
  const sums = new Float64Array(sizeOf(output.shape));
  const counts = new Int32Array(sums.length / channels);
  eachTap(image.shape, output.shape, attrs.pool_size, attrs, (to, from) => {
    counts[to] += 1;
    for (let channel = 0; channel < channels; channel += 1) {
      sums[to * channels + channel] += image.data[from * channels + channel];
    }
  });
  const result = zeros(output);
  sums.forEach((sum, i) => (result.data[i] = sum / counts[Math.floor(i / channels)]));
  return [result];
}

/** The image with other sizes of the axes 1 and 2, one after the other. @type {Operation} */
function resize([image], { interpolation }, [output]) {
  let result = image;
  for (const axis of [1, 2]) result = resizedAlong(result, axis, output.shape[axis], interpolation);
  return [result];
}

/** @param {Tensor} x @param {number} axis @param {number} after @param {string} interpolation */
function resizedAlong(x, axis, after, interpolation) {
  const before = x.shape[axis];
  const shape = x.shape.with(axis, after);
  const result = zeros({ dtype: x.dtype, shape });
  const line = stridesOf(x.shape);
  for (let i = 0; i < after; i += 1) {
    const centre = (2 * i + 1) * before;
    const place = Math.min(Math.max(centre - after, 0), 2 * after * (before - 1));
    const isNearest = interpolation === "nearest";
    const first = Math.floor((isNearest ? centre : place) / (2 * after));
    const weight = isNearest ? 0 : (place % (2 * after)) / (2 * after);
    const lower = pick(x, shape.with(axis, 1), line, first * line[axis]);
    const upper = pick(x, shape.with(axis, 1), line, Math.min(first + 1, before - 1) * line[axis]);
    const step = sizeOf(shape.slice(axis + 1));
    lower.data.forEach((/** @type {number} */ value, /** @type {number} */ n) => {
      const to = Math.floor(n / step) * after * step + i * step + (n % step);
      result.data[to] = value * (1 - weight) + upper.data[n] * weight;
    });
  }
  return result;
}

/** Query, key and value have the shape (batch, positions, heads, size). @type {Operation} */
function attention([query, key, value, mask], attrs, outputs) {
  const [q, k, v] = [query, key, value].map((x) => transpose(x, [0, 2, 1, 3]));
  const shape = [...q.shape.slice(0, 3), k.shape[2]];
  const [scores] = matmul([q, k], { transpose_b: true }, [{ dtype: q.dtype, shape }]);
  const seen = mask ? broadcast(mask, shape).data : new Uint8Array(scores.data.length).fill(1);
  const [to, from] = shape.slice(2);
  scores.data.forEach((/** @type {number} */ score, /** @type {number} */ i) => {
    if (attrs.is_causal && i % from > Math.floor(i / from) % to) seen[i] = 0;
    scores.data[i] = seen[i] ? score * attrs.scale : -1e9;
  });
  const weights = softmax(scores, 3);
  seen.forEach(
    (/** @type {number} */ isSeen, /** @type {number} */ i) => (weights.data[i] *= isSeen),
  );
  const [batch, length, heads, size] = outputs[0].shape;
  const [sums] = matmul([weights, v], {}, [
    { dtype: q.dtype, shape: [batch, heads, length, size] },
  ]);
  return [transpose(sums, [0, 2, 1, 3])];
}

const sigmoid = (/** @type {number} */ x) => 1 / (1 + Math.exp(-x));

/** @type {Operation} */
function lstmCell([gates, cell], _, outputs) {
  const [hidden, memory] = outputs.map(zeros);
  const units = cell.shape[1];
  cell.data.forEach((/** @type {number} */ before, /** @type {number} */ i) => {
    const first = Math.floor(i / units) * 4 * units + (i % units);
    const [enter, forget, candidate, leave] = [0, 1, 2, 3].map(
      (gate) => gates.data[first + gate * units],
    );
    const now = sigmoid(forget) * before + sigmoid(enter) * Math.tanh(candidate);
    memory.data[i] = now;
    hidden.data[i] = sigmoid(leave) * Math.tanh(now);
  });
  return [hidden, memory];
}

/** @type {Operation} */
function gruCell([inputs, recurrent, state], _, outputs) {
  const result = zeros(outputs[0]);
  const units = state.shape[1];
  state.data.forEach((/** @type {number} */ before, /** @type {number} */ i) => {
    const first = Math.floor(i / units) * 3 * units + (i % units);
    const [update, reset, candidate] = [0, 1, 2].map((gate) => first + gate * units);
    const share = sigmoid(inputs.data[update] + recurrent.data[update]);
    const open = sigmoid(inputs.data[reset] + recurrent.data[reset]);
    const next = Math.tanh(inputs.data[candidate] + open * recurrent.data[candidate]);
    result.data[i] = share * before + (1 - share) * next;
  });
  return [result];
}

/** @type {Record<string, Operation>} */
export const PRODUCTS = {
  matmul,
  conv2d,
  conv2d_input_gradient: conv2dInputGradient,
  max_pool2d: maxPool,
  avg_pool2d: avgPool,
  resize,
  dot_product_attention: attention,
  lstm_cell: lstmCell,
  gru_cell: gruCell,
};
