/** Tensors in plain JavaScript: a typed array with a shape, in row-major order. */

/**
 * @typedef {"float32" | "float64" | "int32" | "uint32" | "uint8" | "int8" | "bool"} DType
 * @typedef {Float32Array | Float64Array | Int32Array | Uint32Array | Uint8Array | Int8Array} Data
 * @typedef {{dtype: DType, shape: number[]}} Spec
 * @typedef {Spec & {data: Data}} Tensor
 */

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint32: Uint32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  bool: Uint8Array,
};

/** @param {number[]} shape */
export const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

/** @param {Spec} spec @returns {Tensor} zeros */
export const zeros = ({ dtype, shape }) => ({
  dtype,
  shape,
  data: new ARRAYS[dtype](sizeOf(shape)),
});

/** Elements between neighbours of each axis. @param {number[]} shape */
export function stridesOf(shape) {
  const strides = new Array(shape.length);
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

/**
 * The places of the elements of a tensor in memory that `strides` describe, in row-major order.
 * @param {number[]} shape @param {number[]} strides @param {number} [first]
 */
export function places(shape, strides, first = 0) {
  const size = sizeOf(shape);
  const result = new Int32Array(size);
  const index = new Int32Array(shape.length);
  for (let i = 0, place = first; i < size; i += 1) {
    result[i] = place;
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      place += strides[axis];
      if (++index[axis] < shape[axis]) break;
      place -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

/**
 * The elements of `x` that `strides` describe, as a tensor of another shape.
 * @param {Tensor} x @param {number[]} shape @param {number[]} strides @param {number} [first]
 */
export function pick(x, shape, strides, first = 0) {
  const result = zeros({ dtype: x.dtype, shape });
  places(shape, strides, first).forEach((place, i) => (result.data[i] = x.data[place]));
  return result;
}

/** The strides of `shape` when it is broadcast to another one: 0 along axes of size 1. */
export function broadcastStrides(/** @type {number[]} */ shape, /** @type {number[]} */ to) {
  const strides = stridesOf(shape);
  const lead = to.length - shape.length;
  return to.map((_, axis) => (axis < lead || shape[axis - lead] === 1 ? 0 : strides[axis - lead]));
}

/** @param {Tensor} x @param {number[]} shape */
export const broadcast = (x, shape) => pick(x, shape, broadcastStrides(x.shape, shape));

/** The same elements in another shape. @param {Tensor} x @param {number[]} shape @returns {Tensor} */
export const reshape = (x, shape) => ({ ...x, shape });

/** @param {Tensor} x @param {number[]} order */
export function transpose(x, order) {
  const strides = stridesOf(x.shape);
  return pick(
    x,
    order.map((axis) => x.shape[axis]),
    order.map((axis) => strides[axis]),
  );
}

/**
 * A tensor as lines along an axis: element i of line (before, after) is at
 * `before * size * step + i * step + after`.
 * @param {number[]} shape @param {number} axis
 */
export const lines = (shape, axis) => ({
  before: sizeOf(shape.slice(0, axis)),
  size: shape[axis],
  step: sizeOf(shape.slice(axis + 1)),
});

/**
 * Call `visit` with the place of the first element of each line along an axis, and their distance.
 * @param {number[]} shape @param {number} axis
 * @param {(first: number, step: number, size: number, line: number) => void} visit
 */
export function eachLine(shape, axis, visit) {
  const { before, size, step } = lines(shape, axis);
  for (let outer = 0; outer < before; outer += 1) {
    for (let inner = 0; inner < step; inner += 1)
      visit(outer * size * step + inner, step, size, outer * step + inner);
  }
}
