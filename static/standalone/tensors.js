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

/** A view of values as NumPy has them. @param {ArrayBuffer} buffer @param {number} offset @param {Spec} spec */
export const viewAt = (buffer, offset, { dtype, shape }) =>
  new ARRAYS[dtype](buffer, offset, sizeOf(shape));

/** Values as in a GPU's buffer, where a bool is a word. @param {ArrayBuffer} buffer @param {number} offset @param {Spec} spec */
export const dataAt = (buffer, offset, spec) =>
  spec.dtype === "bool"
    ? Uint8Array.from(viewAt(buffer, offset, { ...spec, dtype: "uint32" }))
    : viewAt(buffer, offset, spec);

/** Zeros. @param {Spec} spec @returns {Data} */
export const zeros = ({ dtype, shape }) => new ARRAYS[dtype](sizeOf(shape));
