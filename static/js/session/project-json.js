/**
 * JSON that keeps what a project contains: numbers that are not finite are `{"$": "NaN"}`, a
 * Float64Array is `{"$": "float64", "values": […]}` with null for NaN, and an object with a field of
 * the name "$" is `{"$": "object", "fields": [[name, value], …]}`.
 */

const TAG = "$";

/** @param {any} value plain data with Float64Arrays @returns {string} */
export const toText = (value) => JSON.stringify(tagged(value));

/** @param {string} text @returns {any} @throws {Error} it is not such JSON */
export const fromText = (text) => untagged(JSON.parse(text));

/** @param {any} value @returns {any} */
function tagged(value) {
  if (typeof value === "number")
    return Number.isFinite(value) && !Object.is(value, -0) ? value : { [TAG]: nameOf(value) };
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Float64Array) {
    return {
      [TAG]: "float64",
      values: Array.from(value, (each) => (Number.isNaN(each) ? null : tagged(each))),
    };
  }
  if (Array.isArray(value)) return value.map(tagged);
  const fields = Object.entries(value).map(([name, each]) => [name, tagged(each)]);
  return Object.hasOwn(value, TAG) ? { [TAG]: "object", fields } : Object.fromEntries(fields);
}

/** @param {number} value */
const nameOf = (value) => (Object.is(value, -0) ? "-0" : String(value));

/** @type {Record<string, number>} */
const NUMBERS = { NaN, Infinity, "-Infinity": -Infinity, "-0": -0 };

/** Make values with own properties only: "__proto__" is a name like any other. @param {any} value @returns {any} */
function untagged(value) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(untagged);
  if (!Object.hasOwn(value, TAG)) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, untagged(each)]));
  }
  const { [TAG]: tag, values, fields } = value;
  if (Object.hasOwn(NUMBERS, tag)) return NUMBERS[tag];
  if (tag === "float64")
    return Float64Array.from(values, (each) => (each === null ? NaN : untagged(each)));
  if (tag === "object")
    return Object.fromEntries(
      fields.map((/** @type {[string, any]} */ [name, each]) => [name, untagged(each)]),
    );
  throw new TypeError(`unknown tag ${tag}`);
}
