/**
 * Elementwise operations: the expressions of the library, as nested lists, evaluated in JavaScript.
 * An expression is ["leaf", i], ["const", value], ["cast", dtype, x] or [function, dtype, ...].
 */

import { broadcastStrides, places, zeros } from "./tensors.js";

/** @import { DType, Spec, Tensor } from "./tensors.js" */
/** @typedef {any[]} Expression @typedef {(x: number[]) => number} Evaluated */

/** Integers wrap around as in NumPy. @type {Record<DType, (x: number) => number>} */
const WRAPPED = {
  float32: (x) => x,
  float64: (x) => x,
  int32: (x) => x | 0,
  uint32: (x) => x >>> 0,
  uint8: (x) => x & 255,
  int8: (x) => (x << 24) >> 24,
  bool: (x) => x,
};

/** @param {number} a @param {number} b */
function mod(a, b) {
  if (Math.abs(b) === Infinity && Number.isFinite(a)) return a === 0 || a < 0 === b < 0 ? a : b;
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

/** @param {number} a @param {number} b */
function floorDivide(a, b) {
  if (b === 0) return a / b;
  if (!Number.isFinite(a) || Number.isNaN(b)) return NaN;
  if (Math.abs(b) === Infinity) return a === 0 || a < 0 === b < 0 ? 0 : -1;
  return Math.round((a - mod(a, b)) / b);
}

/** Whole powers of 32-bit integers, which wrap around. @param {number} a @param {number} b */
function wholePower(a, b) {
  if (b < 0) return a === 1 || a === -1 ? a ** (b & 1) : 0;
  let result = 1;
  for (let rest = b; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest & 1) result = Math.imul(result, a);
    a = Math.imul(a, a);
  }
  return result;
}

/** Halves are rounded to the even neighbour. @param {number} x */
function roundHalfToEven(x) {
  const below = Math.floor(x);
  if (x - below !== 0.5) return Math.round(x);
  return below % 2 === 0 ? below : below + 1;
}

/**
 * The error function: a series near 0, a continued fraction elsewhere (Abramowitz and Stegun 7.1.6
 * and 7.1.14).
 * @param {number} x
 */
function erf(x) {
  const a = Math.abs(x);
  if (Number.isNaN(x) || a > 6) return Number.isNaN(x) ? x : Math.sign(x);
  const scale = 2 / Math.sqrt(Math.PI);
  if (a < 2.5) {
    let term = a;
    let sum = a;
    for (let n = 1; Math.abs(term) > 1e-17 * sum; n += 1) sum += term *= (2 * a * a) / (2 * n + 1);
    return Math.sign(x) * scale * Math.exp(-a * a) * sum;
  }
  let fraction = a;
  for (let n = 60; n > 0; n -= 1) fraction = a + n / 2 / fraction;
  return Math.sign(x) * (1 - (Math.exp(-a * a) * scale) / (2 * fraction));
}

/** `Math.pow` says NaN where NumPy says 1. @param {number} a @param {number} b */
const power = (a, b) => (a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** b);

/** @type {Record<string, (...args: any[]) => any>} */
const FUNCTIONS = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  mod,
  floor_div: floorDivide,
  neg: (a) => -a,
  abs: Math.abs,
  sign: Math.sign,
  exp: Math.exp,
  expm1: Math.expm1,
  log: Math.log,
  log1p: Math.log1p,
  log2: Math.log2,
  log10: Math.log10,
  sqrt: Math.sqrt,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  arcsin: Math.asin,
  arccos: Math.acos,
  arctan: Math.atan,
  arctan2: Math.atan2,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  arcsinh: Math.asinh,
  arccosh: Math.acosh,
  arctanh: Math.atanh,
  erf,
  floor: Math.floor,
  ceil: Math.ceil,
  round: roundHalfToEven,
  trunc: Math.trunc,
  pow: power,
  maximum: Math.max,
  minimum: Math.min,
  lt: (a, b) => +(a < b),
  le: (a, b) => +(a <= b),
  gt: (a, b) => +(a > b),
  ge: (a, b) => +(a >= b),
  eq: (a, b) => +(a === b),
  ne: (a, b) => +(a !== b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  not: (a) => +!a,
  isnan: (a) => +Number.isNaN(a),
  isinf: (a) => +(Math.abs(a) === Infinity),
  isfinite: (a) => +Number.isFinite(a),
  select: (condition, a, b) => (condition ? a : b),
};

/** Other functions of integers: there is no infinity, and products may need more than 53 bits. */
const OF_INTEGERS = /** @type {typeof FUNCTIONS} */ ({
  mul: Math.imul,
  pow: wholePower,
  mod: (a, b) => (b === 0 ? 0 : mod(a, b)),
  floor_div: (a, b) => (b === 0 ? 0 : Math.floor(a / b)),
});

/** @param {Expression} expression @returns {Evaluated} its value for the values of the leaves */
function evaluated([head, ...rest]) {
  if (head === "leaf") return (x) => x[rest[0]];
  if (head === "const") {
    const value = Number(rest[0]);
    return () => value;
  }
  const wrap = WRAPPED[/** @type {DType} */ (rest[0])];
  if (head === "cast") return castTo(rest[0], evaluated(rest[1]));
  const isWhole = !["float32", "float64", "bool"].includes(rest[0]);
  const apply = (isWhole && OF_INTEGERS[head]) || FUNCTIONS[head];
  const [a, b, c] = rest.slice(1).map(evaluated);
  if (c) return (x) => wrap(apply(a(x), b(x), c(x)));
  return b ? (x) => wrap(apply(a(x), b(x))) : (x) => wrap(apply(a(x)));
}

/** @param {DType} dtype @param {Evaluated} value @returns {Evaluated} */
function castTo(dtype, value) {
  if (dtype === "bool") return (x) => +(value(x) !== 0);
  if (dtype === "float32") return (x) => Math.fround(value(x));
  if (dtype === "float64") return value;
  return (x) => WRAPPED[dtype](Math.trunc(value(x)));
}

/**
 * @param {Expression[]} expressions one for each output
 * @param {Tensor[]} inputs @param {Spec[]} outputs their broadcast shape
 */
export function elementwise(expressions, inputs, outputs) {
  const { shape } = outputs[0];
  const from = inputs.map((x) => places(shape, broadcastStrides(x.shape, shape)));
  return expressions.map((expression, number) => {
    const value = evaluated(expression);
    const result = zeros({ ...outputs[number], shape });
    const leaves = new Array(inputs.length).fill(0);
    for (let i = 0; i < result.data.length; i += 1) {
      for (let n = 0; n < inputs.length; n += 1) leaves[n] = inputs[n].data[from[n][i]];
      result.data[i] = value(leaves);
    }
    return result;
  });
}
