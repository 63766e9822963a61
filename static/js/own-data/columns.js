/** The columns of a table: their types, and their cells as numbers. */

/**
 * @typedef {"number" | "category" | "date" | "text"} ColumnType `text`: left out
 * @typedef {object} Column
 * @property {string} title
 * @property {string[]} cells
 * @property {ColumnType} type
 * @property {number} missing cells without a value
 * @property {number} distinct different values, counted up to 1001
 * @property {number} odd for a column of numbers: cells that hold something else
 * @property {{row: number, cell: string} | null} firstOdd
 */

export const TYPES = /** @type {const} */ (["number", "category", "date", "text"]);

const MISSING = new Set(["", "?", "na", "n/a", "nan", "null", "none", "-"]);
const LONGEST_MISSING = 4;
/** More different values than these are not counted. */
const MOST_COUNTED = 1000;
/** A column of text with more different values is no category. */
const MOST_CATEGORIES = 50;
/** A column of numbers may have this part of other cells, which count as missing. */
const MOST_ODD = 0.1;
const DAY_MS = 86_400_000;
const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** @param {string} cell */
export const isMissing = (cell) => isMissingText(cell.trim());

/** @param {string} text */
const isMissingText = (text) => text.length <= LONGEST_MISSING && MISSING.has(text.toLowerCase());

/**
 * A number, with a point for decimals, or with a comma where the whole cell allows no other reading.
 * @param {string} cell
 * @returns {number} NaN for other text
 */
export function numberOf(cell) {
  const text = cell.trim();
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (text.includes(",") && /^[+-]?\d*,\d+$/.test(text)) return Number(text.replace(",", "."));
  return NaN;
}

/** Days since 1970, with the time of day as a fraction. @param {string} cell @returns {number} NaN for other text */
function daysOf(cell) {
  const parts = DATE.exec(cell.trim());
  if (!parts) return NaN;
  const [year, month, day, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
    ? date.getTime() / DAY_MS
    : NaN;
}

/** @param {string} title @param {string[]} cells @returns {Column} */
export function describeColumn(title, cells) {
  /** @type {Set<string>} */
  const values = new Set();
  let [present, numbers, dates] = [0, 0, 0];
  for (const cell of cells) {
    const text = cell.trim();
    if (isMissingText(text)) continue;
    present += 1;
    if (values.size <= MOST_COUNTED) values.add(text);
    if (Number.isFinite(numberOf(text))) numbers += 1;
    else if (Number.isFinite(daysOf(text))) dates += 1;
  }
  const distinct = values.size;
  /** @type {ColumnType} */
  let type = "text";
  if (present > 0 && present - numbers <= MOST_ODD * present) type = "number";
  else if (dates > 0 && present - dates <= MOST_ODD * present) type = "date";
  else if (distinct > 0 && distinct <= MOST_CATEGORIES && (distinct <= 2 || distinct < present))
    type = "category";
  return withType(
    { title, cells, type, missing: cells.length - present, distinct, odd: 0, firstOdd: null },
    type,
  );
}

/** @param {Column} column @param {ColumnType} type @returns {Column} */
export function withType(column, type) {
  /** @type {Column} */
  const typed = { ...column, type, odd: 0, firstOdd: null };
  if (type !== "number" && type !== "date") return typed;
  numbersOf(typed).forEach((value, row) => {
    if (!Number.isNaN(value) || isMissing(column.cells[row])) return;
    typed.odd += 1;
    typed.firstOdd ??= { row, cell: column.cells[row] };
  });
  return typed;
}

/** The type of a column as the label: a few whole numbers are classes. @param {Column} column @returns {"number" | "category"} */
export function labelType(column) {
  if (column.type === "category" || column.type === "text") return "category";
  return column.type === "number" &&
    column.distinct <= 10 &&
    numbersOf(column).every((value) => Number.isNaN(value) || Number.isInteger(value))
    ? "category"
    : "number";
}

/** What was read of columns, which never change. @type {WeakMap<Column, Float64Array>} */
const read = new WeakMap();

/** The cells as numbers, NaN for a missing one. @param {Column} column of numbers or dates */
export function numbersOf(column) {
  const before = read.get(column);
  if (before) return before;
  const reader = column.type === "date" ? daysOf : numberOf;
  const values = Float64Array.from(column.cells, (cell) => {
    const value = reader(cell);
    return Number.isFinite(value) ? value : NaN; // what is missing is no number
  });
  read.set(column, values);
  return values;
}

/** @type {WeakMap<Column, string[]>} */
const sorted = new WeakMap();

/** The categories in order: numbers by size, others by their letters. @param {Column} column @returns {string[]} */
export function categoriesOf(column) {
  const before = sorted.get(column);
  if (before) return before;
  /** @type {Set<string>} */
  const all = new Set();
  for (const cell of column.cells) {
    const text = cell.trim();
    if (!isMissingText(text)) all.add(text);
  }
  const list = [...all];
  const areNumbers = list.every((text) => Number.isFinite(numberOf(text)));
  if (areNumbers) list.sort((a, b) => numberOf(a) - numberOf(b));
  else list.sort();
  sorted.set(column, list);
  return list;
}

/** The position of each cell among the categories, NaN for a missing one. @param {Column} column @param {string[]} categories */
export function codesOf(column, categories) {
  const codes = new Map(categories.map((text, code) => [text, code]));
  return Float64Array.from(column.cells, (cell) => codes.get(cell.trim()) ?? NaN);
}
