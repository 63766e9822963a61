/**
 * Tables of text: CSV with any delimiter, quoted as in RFC 4180.
 * `app/playgrad/data/text_table.py` reads the same tables; the tests compare both.
 */

import { t } from "../words/locale.js";
import { MOST_ODD, isNumber } from "./cell-numbers.js";
import { DataProblem } from "./problem.js";

/**
 * @typedef {object} Table
 * @property {string[]} titles of the columns
 * @property {string[][]} rows without their header, all of the same width
 * @property {number[]} lines the line in the file at which each row begins, from 1
 * @property {string} delimiter
 * @property {boolean} hasHeader
 * @property {number[]} ragged the lines of rows of another width, which were left out
 * @property {boolean} seemsHeader the first row is read as data, but its numbers could be titles
 */

/** In this order where a file could have several: commas are also in numbers and in sentences. */
export const DELIMITERS = ["\t", ";", "|", ","];
/** A longer cell is the rest of a file after a quotation mark. */
const LONGEST_CELL = 1 << 17;
const SAMPLE = 20;
const FEW = 10;
const MOST_COLUMNS = 2000;

/**
 * The text in a file: UTF-8, UTF-16 with its mark, or else Windows-1252, which spreadsheets save.
 * @param {Uint8Array} bytes
 * @returns {{text: string, isGuess: boolean}} `isGuess`: it is in none of the Unicode encodings
 */
export function decodeText(bytes) {
  const decoded = (/** @type {string} */ encoding, isGuess = false) => ({
    text: new TextDecoder(encoding, { fatal: encoding === "utf-8" }).decode(bytes),
    isGuess,
  });
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decoded("utf-16le");
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decoded("utf-16be");
  try {
    return decoded("utf-8");
  } catch {
    return decoded("windows-1252", true);
  }
}

/**
 * @param {string} text
 * @param {string} name for messages
 * @param {{delimiter?: string, hasHeader?: boolean}} [choices] the visitor's choices; others are guessed
 * @returns {Table}
 * @throws {DataProblem}
 */
export function readTable(text, name, choices = {}) {
  const words = t().dataFiles.table;
  if (text.includes("\0")) throw new DataProblem(words.notText(name));
  const delimiter = choices.delimiter ?? guessDelimiter(text);
  const { rows, lines } = readRows(text, delimiter, name);
  if (rows.length === 0) throw new DataProblem(t().dataFiles.empty(name));
  const width = commonWidth(rows);
  if (width < 2) throw new DataProblem(words.oneColumn(name));
  if (width > MOST_COLUMNS) throw new DataProblem(words.manyColumns(name, width, MOST_COLUMNS));
  const fits = rows.map((row) => row.length === width);
  const whole = rows.filter((_, at) => fits[at]);
  const hasHeader = choices.hasHeader ?? isHeader(whole);
  const titles = hasHeader
    ? unique(whole[0].map((cell) => cell.trim()))
    : unique(whole[0].map(() => ""));
  const first = hasHeader ? 1 : 0;
  if (whole.length === first) throw new DataProblem(words.noRows(name));
  return {
    titles,
    delimiter,
    hasHeader,
    rows: whole.slice(first),
    lines: lines.filter((_, at) => fits[at]).slice(first),
    ragged: lines.filter((_, at) => !fits[at]),
    seemsHeader: choices.hasHeader === undefined && !hasHeader && seemsHeader(whole),
  };
}

/**
 * Rows of cells; empty lines are left out.
 * @param {string} text @param {string} delimiter @param {string} name
 * @param {number} [most] rows
 */
function readRows(text, delimiter, name, most = Infinity) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {number[]} */
  const lines = [];
  let line = 1;
  let at = 0;
  while (at < text.length && rows.length < most) {
    const began = line;
    /** @type {string[]} */
    const row = [];
    for (;;) {
      let cell;
      if (text[at] === '"') {
        const quoted = readQuoted(text, at + 1);
        if (!quoted) throw new DataProblem(t().dataFiles.table.openQuote(name, began));
        line += countBreaks(quoted.cell);
        ({ cell, at } = quoted);
      } else cell = "";
      let end = at;
      while (
        end < text.length &&
        text[end] !== delimiter &&
        text[end] !== "\n" &&
        text[end] !== "\r"
      )
        end += 1;
      cell += text.slice(at, end);
      if (cell.length > LONGEST_CELL)
        throw new DataProblem(t().dataFiles.table.longCell(name, began, LONGEST_CELL));
      row.push(cell);
      at = end;
      if (text[at] !== delimiter) break;
      at += 1;
    }
    at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
    line += 1;
    if (row.every((cell) => cell.trim() === "")) continue;
    rows.push(row);
    lines.push(began);
  }
  return { rows, lines };
}

/** @param {string} text @param {number} start @returns {{cell: string, at: number} | null} null if it never ends */
function readQuoted(text, start) {
  let cell = "";
  let from = start;
  for (;;) {
    const end = text.indexOf('"', from);
    if (end < 0) return null;
    cell += text.slice(from, end);
    if (text[end + 1] !== '"') return { cell, at: end + 1 };
    cell += '"';
    from = end + 2;
  }
}

/** @param {string} cell */
const countBreaks = (cell) => (cell.match(/\r\n|\n|\r/g) ?? []).length;

/** The delimiter with which most of the first rows have the same number of cells, at least two. @param {string} text */
function guessDelimiter(text) {
  const counts = DELIMITERS.map((delimiter) => {
    try {
      const { rows } = readRows(text, delimiter, "", SAMPLE);
      const width = commonWidth(rows);
      return width < 2 ? 0 : rows.filter((row) => row.length === width).length;
    } catch {
      return 0;
    }
  });
  const most = Math.max(...counts);
  return most === 0 ? "," : DELIMITERS[counts.indexOf(most)];
}

/** The width that most rows have. @param {string[][]} rows */
function commonWidth(rows) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

/** Whether the first row has no number, and none of its texts occurs again in its column. @param {string[][]} rows */
function isHeader([first, ...rows]) {
  if (first.some((cell) => isNumber(cell.trim()))) return false;
  return !rows.some((row) => row.some((cell, column) => cell !== "" && cell === first[column]));
}

/**
 * Whether the numbers in the first row are like 2019, 2020, 2021, and others are not: they are
 * whole, grow by equal steps, and do not occur again in their columns. Two such numbers tell less
 * than three: that no other row is like them says something in longer tables only.
 * @param {string[][]} rows
 */
function seemsHeader([first, ...others]) {
  const places = [...first.keys()].filter((place) => isNumber(first[place].trim()));
  const isSeries = (/** @type {string[]} */ row) => {
    const cells = places.map((place) => row[place].trim());
    if (!cells.every((cell) => /^\d{1,15}$/.test(cell))) return false;
    const steps = cells.slice(1).map((cell, at) => Number(cell) - Number(cells[at]));
    return steps[0] > 0 && steps.every((step) => step === steps[0]);
  };
  if (others.length === 0 || (places.length < 3 && others.length < FEW) || !isSeries(first))
    return false;
  const again = others.some((row) => places.some((place) => row[place] === first[place]));
  return !again && others.filter(isSeries).length <= MOST_ODD * others.length;
}

/** Titles that differ, and none empty. @param {string[]} titles */
function unique(titles) {
  /** @type {Set<string>} */
  const taken = new Set();
  return titles.map((title, index) => {
    const base = title || t().dataForms.table.column(index + 1);
    let name = base;
    for (let number = 2; taken.has(name); number += 1) name = `${base} (${number})`;
    taken.add(name);
    return name;
  });
}
