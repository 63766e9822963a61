/** The columns of a table: their types, and their cells as numbers. */

/**
 * @typedef {"number" | "category" | "date" | "text"} ColumnType `text`: left out
 * @typedef {object} Column
 * @property {string} title
 * @property {string[]} cells
 * @property {ColumnType} type
 * @property {number} missing cells without a value
 * @property {number} distinct different values
 * @property {number} odd for a column of numbers: cells that hold something else
 * @property {{row: number, cell: string} | null} firstOdd
 */

export const TYPES = /** @type {const} */ (["number", "category", "date", "text"]);

const MISSING = new Set(["", "?", "na", "n/a", "nan", "null", "none", "-"]);
/** A column of text with more different values is no category. */
export const MOST_CATEGORIES = 50;
/** A column of numbers may have this part of other cells, which count as missing. */
const MOST_ODD = 0.1;
const DAY_MS = 86_400_000;
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** @param {string} cell */
export const isMissing = (cell) => MISSING.has(cell.trim().toLowerCase());

/**
 * A number, with a point for decimals, or with a comma where the whole cell allows no other reading.
 * @param {string} cell
 * @returns {number} NaN for other text
 */
export function numberOf(cell) {
  const text = cell.trim();
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (/^[+-]?\d*,\d+$/.test(text)) return Number(text.replace(",", "."));
  return NaN;
}

/** Days since 1970, with the time of day as a fraction. @param {string} cell @returns {number} NaN for other text */
export function daysOf(cell) {
  const parts = DATE.exec(cell.trim());
  if (!parts) return NaN;
  const [year, month, day, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() / DAY_MS : NaN;
}

/** @param {string} title @param {string[]} cells @returns {Column} */
export function describeColumn(title, cells) {
  const values = cells.filter((cell) => !isMissing(cell));
  const distinct = new Set(values.map((cell) => cell.trim())).size;
  const numbers = values.filter((cell) => Number.isFinite(numberOf(cell))).length;
  const dates = values.filter((cell) => Number.isFinite(daysOf(cell))).length;
  const isNumber = values.length > 0 && values.length - numbers <= MOST_ODD * values.length;
  /** @type {ColumnType} */
  let type = "text";
  if (isNumber) type = "number";
  else if (dates > 0 && values.length - dates <= MOST_ODD * values.length) type = "date";
  else if (distinct > 0 && distinct <= MOST_CATEGORIES && (distinct <= 2 || distinct < values.length)) type = "category";
  return withType({ title, cells, type, missing: cells.length - values.length, distinct, odd: 0, firstOdd: null }, type);
}

/** @param {Column} column @param {ColumnType} type @returns {Column} */
export function withType(column, type) {
  const read = readerOf(type);
  if (!read) return { ...column, type, odd: 0, firstOdd: null };
  let odd = 0;
  /** @type {Column["firstOdd"]} */
  let firstOdd = null;
  column.cells.forEach((cell, row) => {
    if (isMissing(cell) || Number.isFinite(read(cell))) return;
    odd += 1;
    firstOdd ??= { row, cell };
  });
  return { ...column, type, odd, firstOdd };
}

/** @param {ColumnType} type */
function readerOf(type) {
  if (type === "number") return numberOf;
  return type === "date" ? daysOf : null;
}

/** The type of a column as the label: a few whole numbers are classes. @param {Column} column @returns {"number" | "category"} */
export function labelType(column) {
  if (column.type === "category" || column.type === "text") return "category";
  const values = column.cells.filter((cell) => !isMissing(cell)).map(numberOf);
  return column.type === "number" && column.distinct <= 10 && values.every((value) => Number.isInteger(value))
    ? "category" : "number";
}

/** The cells as numbers, NaN for a missing one. @param {Column} column of numbers or dates */
export function numbersOf(column) {
  const read = column.type === "date" ? daysOf : numberOf;
  return column.cells.map((cell) => (isMissing(cell) ? NaN : read(cell)));
}

/** The categories in order: numbers by size, others by their letters. @param {Column} column @returns {string[]} */
export function categoriesOf(column) {
  const all = [...new Set(column.cells.filter((cell) => !isMissing(cell)).map((cell) => cell.trim()))];
  const areNumbers = all.every((text) => Number.isFinite(numberOf(text)));
  return areNumbers ? all.sort((a, b) => numberOf(a) - numberOf(b)) : all.sort();
}

/** The position of each cell among the categories, NaN for a missing one. @param {Column} column @param {string[]} categories */
export function codesOf(column, categories) {
  const codes = new Map(categories.map((text, code) => [text, code]));
  return column.cells.map((cell) => (isMissing(cell) ? NaN : (codes.get(cell.trim()) ?? NaN)));
}
