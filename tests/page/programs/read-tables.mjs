/** Prints what the page reads of tables: `node read-tables.mjs FILE`, a JSON list of them in base64. */

import { readFileSync } from "node:fs";
import {
  categoriesOf,
  codesOf,
  labelType,
  numbersOf,
} from "../../../static/js/own-data/columns.js";
import { decodeText, readTable } from "../../../static/js/own-data/csv.js";
import { DataProblem } from "../../../static/js/own-data/problem.js";
import {
  asUsed,
  describeColumns,
  firstChoices,
  leftOut,
} from "../../../static/js/own-data/table-set.js";

/** @param {Uint8Array} bytes */
function read(bytes) {
  const { text, isGuess } = decodeText(bytes);
  const table = readTable(text, "t.csv");
  const columns = describeColumns(table);
  const { titles, lines, ragged, delimiter, hasHeader, seemsHeader } = table;
  const choices = firstChoices(columns);
  const { label } = choices;
  const without = leftOut(asUsed(columns, choices), choices);
  return {
    table: { titles, lines, ragged, delimiter, hasHeader, seemsHeader, isUnicode: !isGuess },
    leftOut: without && [without.rows, without.column.title, without.holes, lines[without.first]],
    label: [label, labelType(columns[label])],
    columns: columns.map((column) => ({
      type: column.type,
      missing: column.missing,
      distinct: column.distinct,
      odd: column.odd,
      mark: column.mark,
      example: column.type === "number" ? column.example : null,
      cells: column.cells.map((cell) => cell.trim()),
      categories: categoriesOf(column),
      codes: [...codesOf(column)],
      numbers: column.type === "number" || column.type === "date" ? [...numbersOf(column)] : [],
    })),
  };
}

/** @param {string} content */
function answer(content) {
  try {
    return read(Buffer.from(content, "base64"));
  } catch (failure) {
    if (!(failure instanceof DataProblem)) throw failure;
    return null;
  }
}

const contents = JSON.parse(readFileSync(process.argv[2], "utf-8"));
process.stdout.write(JSON.stringify(contents.map(answer)));
