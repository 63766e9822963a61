/** Checks of plain values that come from outside, such as records that an older page stored. */

/**
 * @typedef {(value: any, path: string) => string | null} Check
 *   Returns the path of the first part that does not fit, or null.
 */

/** @param {(value: any) => boolean} fits @returns {Check} */
const where = (fits) => (value, path) => (fits(value) ? null : path || "value");

export const text = where((value) => typeof value === "string");
export const flag = where((value) => typeof value === "boolean");
export const number = where((value) => typeof value === "number");
/** A whole number that is at least 0. */
export const count = where((value) => Number.isSafeInteger(value) && value >= 0);
export const bytes = where((value) => value instanceof Uint8Array);
export const doubles = where((value) => value instanceof Float64Array);

/** @param {...(string | number)} values */
export const oneOf = (...values) => where((value) => values.includes(value));

/** @param {Check} check @returns {Check} */
export const nullable = (check) => (value, path) => (value === null ? null : check(value, path));

/** @param {Check} check @returns {Check} a field that may be missing */
export const optional = (check) => (value, path) => (value === undefined ? null : check(value, path));

/** @param {Check} check @returns {Check} */
export const listOf = (check) => (value, path) =>
  Array.isArray(value) ? first(value.entries(), () => check, path) : path;

/** An object with any names. @param {Check} check its values @returns {Check} */
export const mapOf = (check) => (value, path) =>
  isObject(value) ? first(Object.entries(value), () => check, path) : path;

/** An object with these fields; others are ignored. @param {Record<string, Check>} fields @returns {Check} */
export const record = (fields) => (value, path) =>
  isObject(value)
    ? first(Object.keys(fields).map((name) => [name, value[name]]), (name) => fields[name], path)
    : path || "value";

/** @param {any} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * @param {Iterable<[any, any] | any[]>} items
 * @param {(name: any) => Check} checkOf
 * @param {string} path
 */
function first(items, checkOf, path) {
  for (const [name, value] of items) {
    const problem = checkOf(name)(value, path ? `${path}.${name}` : String(name));
    if (problem !== null) return problem;
  }
  return null;
}
