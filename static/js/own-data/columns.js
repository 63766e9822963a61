/**
 * The columns of a table: their types, and their cells as numbers.
 * `app/playgrad/data/table_columns.py` reads the same columns; the tests compare both.
 */

import { MOST_ODD, cellNumber, exampleOf } from "./cell-numbers.js";

/**
 * @import { Mark } from "./cell-numbers.js"
 *
 * @typedef {"number" | "category" | "date" | "text"} ColumnType `text`: left out
 * @typedef {object} Column
 * @property {string} title
 * @property {string[]} cells
 * @property {ColumnType} type
 * @property {number} missing cells without a value
 * @property {number} distinct different values, counted up to 1001
 * @property {number} odd for a column of numbers: cells that hold something else
 * @property {{row: number, cell: string} | null} firstOdd
 * @property {Mark | null} mark for decimals; null if the cells contradict each other
 * @property {ReturnType<typeof exampleOf>} example of a number that is not written as programs do
 */

export const TYPES = /** @type {const} */ (["number", "category", "date", "text"]);

const MISSING = new Set(["", "?", "na", "n/a", "nan", "null", "none", "-"]);
const LONGEST_MISSING = 4;
/** More different values than these are not counted. */
const MOST_COUNTED = 1000;
/** A column of text with more different values is no category. */
const MOST_CATEGORIES = 50;
const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;
const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?(?:Z|([+-])(\d{2}):?(\d{2}))?)?$/;

/** @param {string} cell */
export const isMissing = (cell) => isMissingText(cell.trim());

/** @param {string} text */
const isMissingText = (text) => text.length <= LONGEST_MISSING && MISSING.has(text.toLowerCase());

/** Days since 1970 in UTC, with the time of day as a fraction. @param {string} cell @returns {number} NaN for other text */
function daysOf(cell) {
  const parts = DATE.exec(cell.trim());
  if (!parts) return NaN;
  const [year, month, day, hour, minute, second, fraction] = parts
    .slice(1, 8)
    .map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 59) return NaN;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day); // Date.UTC takes the year 50 for 1950
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return NaN;
  const offset = 60 * Number(parts[9] ?? 0) + Number(parts[10] ?? 0);
  const minutes = 60 * hour + minute - (parts[8] === "-" ? -offset : offset);
  return date.getTime() / DAY_MS + (60 * minutes + second + fraction) / DAY_SECONDS;
}

/** The cells with a value, without spaces around them. @param {string[]} cells */
export const presentIn = (cells) =>
  cells.map((cell) => cell.trim()).filter((text) => !isMissingText(text));

/**
 * @param {string} title
 * @param {string[]} cells
 * @param {{mark: Mark | null, isGuess: boolean}} [style] of its numbers
 * @returns {Column}
 */
export function describeColumn(title, cells, { mark, isGuess } = { mark: ".", isGuess: true }) {
  const texts = presentIn(cells);
  const values = new Set();
  for (const text of texts) if (values.size <= MOST_COUNTED) values.add(text);
  const [present, distinct] = [texts.length, values.size];
  const numbers = texts.filter((text) => !Number.isNaN(cellNumber(text, mark))).length;
  const areNumbers = isMostly(numbers, present);
  const dates = areNumbers ? 0 : texts.filter((text) => !Number.isNaN(daysOf(text))).length;
  /** @type {ColumnType} */
  let type = "text";
  if (areNumbers) type = "number";
  else if (isMostly(dates, present)) type = "date";
  else if (distinct > 0 && distinct <= MOST_CATEGORIES && (distinct <= 2 || distinct < present))
    type = "category";
  const missing = cells.length - present;
  const example = areNumbers ? exampleOf(texts, mark, isGuess) : null;
  return withType(
    { title, cells, type, missing, distinct, odd: 0, firstOdd: null, mark, example },
    type,
  );
}

/** @param {number} count @param {number} present */
const isMostly = (count, present) => count > 0 && present - count <= MOST_ODD * present;

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
  const numbers = [...new Set(numbersOf(column))].filter((value) => !Number.isNaN(value));
  return column.type === "number" && numbers.length <= 10 && numbers.every(Number.isInteger)
    ? "category"
    : "number";
}

/** What was read of columns, which never change. @type {WeakMap<Column, Float64Array>} */
const read = new WeakMap();

/** The cells as numbers, NaN for a missing one. @param {Column} column of numbers or dates */
export function numbersOf(column) {
  const before = read.get(column);
  if (before) return before;
  const values = Float64Array.from(column.cells, (cell) => numberIn(column, cell));
  read.set(column, values);
  return values;
}

/** @param {Column} column @param {string} cell @returns {number} NaN for other text */
const numberIn = ({ type, mark }, cell) =>
  type === "date" ? daysOf(cell) : cellNumber(cell.trim(), mark);

/** @type {WeakMap<Column, Map<string, string>>} */
const sorted = new WeakMap();

/**
 * The category of each text that is not missing, in the order of the categories. Of a number, such
 * as 1 and 1.0, it is the shortest text. Other text in a column of numbers or dates is missing.
 * @param {Column} column @returns {Map<string, string>}
 */
function textsOf(column) {
  const before = sorted.get(column);
  if (before) return before;
  const texts = [...new Set(presentIn(column.cells))].sort();
  const numbers = new Map(texts.map((text) => [text, numberIn(column, text)]));
  const isNumber = (/** @type {string} */ text) => !Number.isNaN(numbers.get(text));
  let categories = new Map(texts.map((text) => [text, text]));
  if (column.type === "number" || column.type === "date" || texts.every(isNumber)) {
    const valueOf = (/** @type {string} */ text) => numbers.get(text) ?? NaN;
    const bySize = texts
      .filter(isNumber)
      .sort((a, b) => valueOf(a) - valueOf(b) || a.length - b.length);
    const first = new Map([...bySize].reverse().map((text) => [valueOf(text), text]));
    categories = new Map(bySize.map((text) => [text, first.get(valueOf(text)) ?? text]));
  }
  sorted.set(column, categories);
  return categories;
}

/** The categories in order: numbers by size, others by their letters. @param {Column} column @returns {string[]} */
export const categoriesOf = (column) => [...new Set(textsOf(column).values())];

/** The position of each cell among the categories, NaN for a missing one. @param {Column} column */
export function codesOf(column) {
  const positions = new Map(categoriesOf(column).map((category, code) => [category, code]));
  const codes = new Map([...textsOf(column)].map(([text, each]) => [text, positions.get(each)]));
  return Float64Array.from(column.cells, (cell) => codes.get(cell.trim()) ?? NaN);
}
