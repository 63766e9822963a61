/** Checks of the form of plain values: a worker's messages, and values that an older page has stored. */

/** @typedef {(value: any) => boolean} Check whether a value has the form */

/** @type {Check} */
export const text = (value) => typeof value === "string";
/** @type {Check} */
export const flag = (value) => typeof value === "boolean";
/** @type {Check} */
export const number = (value) => typeof value === "number";
/** A whole number that is at least 0. @type {Check} */
export const count = (value) => Number.isSafeInteger(value) && value >= 0;
/** @param {number} least @param {number} most @returns {Check} a number that is not NaN */
export const within = (least, most) => (value) =>
  typeof value === "number" && least <= value && value <= most;
/** @param {number} least @param {number} most @returns {Check} */
export const whole = (least, most) => (value) =>
  Number.isSafeInteger(value) && least <= value && value <= most;
/** @param {number} longest in characters @returns {Check} */
export const textOf = (longest) => (value) => typeof value === "string" && value.length <= longest;
/** @type {Check} */
export const bytes = (value) => value instanceof Uint8Array;
/** @type {Check} */
export const doubles = (value) => value instanceof Float64Array;
/** @type {Check} */
export const shared = (value) => value instanceof SharedArrayBuffer;

/** @param {...(string | number | boolean | null)} values @returns {Check} */
export const oneOf =
  (...values) =>
  (value) =>
    values.includes(value);

/** @param {Check} check @returns {Check} */
export const nullable = (check) => (value) => value === null || check(value);

/** @param {Check} check @returns {Check} a field that may be missing */
export const optional = (check) => (value) => value === undefined || check(value);

/** @param {Check} check @param {number} [most] values @returns {Check} */
export const listOf =
  (check, most = Infinity) =>
  (value) =>
    Array.isArray(value) && value.length <= most && value.findIndex((each) => !check(each)) < 0; // `every` does not see holes

/** @param {...Check} checks @returns {Check} */
export const tuple =
  (...checks) =>
  (value) =>
    Array.isArray(value) &&
    value.length === checks.length &&
    checks.every((check, at) => check(value[at]));

/** @param {unknown} value */
export const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object with any names. @param {Check} check its values @param {number} [most] values @returns {Check} */
export const mapOf =
  (check, most = Infinity) =>
  (value) => {
    if (!isObject(value)) return false;
    const values = Object.values(value);
    return values.length <= most && values.every((each) => check(each));
  };

/** @param {...Check} checks @returns {Check} */
export const both =
  (...checks) =>
  (value) =>
    checks.every((check) => check(value));

/** An object with these fields; others are ignored. @param {Record<string, Check>} fields @returns {Check} */
export const record = (fields) => {
  const entries = Object.entries(fields);
  return (value) => isObject(value) && entries.every(([name, check]) => check(value[name]));
};
