/** A data set out of a table: features, a label, and rows for training and for testing. */

import { t } from "../words/locale.js";
import { marksOf, tallyOf } from "./cell-numbers.js";
import {
  categoriesOf,
  codesOf,
  describeColumn,
  labelType,
  numbersOf,
  presentIn,
  withType,
} from "./columns.js";
import { normalize, statistics } from "./data-set.js";
import { DataProblem, checkSet } from "./problem.js";
import { splitRows } from "./split.js";

/**
 * @import { Column } from "./columns.js"
 * @import { Table } from "./csv.js"
 * @import { DataSet } from "./data-set.js"
 *
 * @typedef {object} TableChoices
 * @property {number} label the number of its column
 * @property {"number" | "category"} labelType
 * @property {"drop" | "mean"} missing the treatment of rows with missing values
 * @property {number} test the part for testing
 * @property {number} seed of the split
 * @property {boolean} normalized
 *
 * @typedef {{name: string, values: Float64Array}} Feature
 */

/** @param {Pick<Table, "titles" | "rows" | "delimiter">} table @returns {Column[]} */
export function describeColumns({ titles, rows, delimiter }) {
  const columns = titles.map((_, index) => rows.map((row) => row[index]));
  const styles = marksOf(
    columns.map((cells) => tallyOf(presentIn(cells))),
    delimiter,
  );
  return columns.map((cells, index) => describeColumn(titles[index], cells, styles[index]));
}

/** The last column is the label, unless it is text or, if there is another, a date. @param {Column[]} columns @returns {TableChoices} */
export function firstChoices(columns) {
  const last = (/** @type {string[]} */ ...others) =>
    columns.findLastIndex(({ type }) => !others.includes(type));
  const label =
    [last("text", "date"), last("text")].find((place) => place >= 0) ?? columns.length - 1;
  return {
    label,
    labelType: labelType(columns[label]),
    missing: "drop",
    test: 0.2,
    seed: 0,
    normalized: true,
  };
}

/**
 * @param {Column[]} columns
 * @param {TableChoices} choices
 * @returns {DataSet}
 * @throws {DataProblem}
 */
export function tableSet(columns, choices) {
  const target = asUsed(columns, choices)[choices.label];
  const classes = choices.labelType === "category" ? categoriesOf(target) : [];
  const labels = choices.labelType === "category" ? codesOf(target) : numbersOf(target);
  const words = t().dataFiles.table;
  if (choices.labelType === "category" && classes.length < 2) {
    throw new DataProblem(
      classes.length === 1
        ? words.oneClass(target.title, classes[0])
        : words.noValues(target.title),
    );
  }
  if (choices.labelType === "category" && classes.length > 1000) {
    throw new DataProblem(words.manyClasses(target.title, classes.length));
  }
  if (target.odd > 0 && target.odd === target.cells.length - target.missing) {
    throw new DataProblem(words.textTarget(target.title, String(target.firstOdd?.cell)));
  }
  const features = columns
    .filter((column, index) => index !== choices.label && column.type !== "text")
    .flatMap(featuresOf);
  if (features.length === 0) throw new DataProblem(words.noFeatures);
  checkSet(4 * features.length * labels.length);

  const used = wholeRows(
    choices.missing === "mean" ? [labels] : [labels, ...features.map(({ values }) => values)],
  );
  if (used.length < 2)
    throw new DataProblem(used.length === 0 ? words.holesEverywhere : words.oneRow);
  const groups = used.map((row) => (choices.labelType === "category" ? labels[row] : 0));
  const parts = splitRows(groups, choices.test, choices.seed);
  const train = parts.train.map((at) => used[at]);
  const test = parts.test.map((at) => used[at]);
  const means = features.map(({ values }) => meanOf(values, train));
  /** @param {number[]} rows */
  const matrix = (rows) => {
    const x = new Float32Array(rows.length * features.length);
    features.forEach(({ values }, index) => {
      for (let at = 0; at < rows.length; at += 1) {
        const value = values[rows[at]];
        x[at * features.length + index] = Number.isNaN(value) ? means[index] : value;
      }
    });
    return x;
  };
  const [x, xTest] = [matrix(train), matrix(test)];
  const normal = choices.normalized ? statistics(x, features.length) : null;
  if (normal) for (const part of [x, xTest]) normalize(part, normal);
  /** @param {number[]} rows */
  const labelsOf = (rows) => {
    const values = rows.map((row) => labels[row]);
    return choices.labelType === "category" ? Int32Array.from(values) : Float32Array.from(values);
  };
  return {
    kind: "table",
    shape: [features.length],
    classes,
    columns: features.map(({ name }) => name),
    normal,
    train: { x, y: labelsOf(train), count: train.length },
    test: { x: xTest, y: labelsOf(test), count: test.length },
  };
}

/** The columns, with the type that a label of text has by its use. @param {Column[]} columns @param {Pick<TableChoices, "label" | "labelType">} choices */
export const asUsed = (columns, choices) =>
  columns.map((column, index) =>
    index === choices.label && (column.type === "category" || column.type === "text")
      ? withType(column, choices.labelType)
      : column,
  );

/** Numbers are a feature; a category is one for each of its values, 1 where it occurs. @param {Column} column @returns {Feature[]} */
function featuresOf(column) {
  if (column.type !== "category") return [{ name: column.title, values: numbersOf(column) }];
  const categories = categoriesOf(column);
  if (categories.length > 1000) {
    throw new DataProblem(t().dataFiles.table.manyCategories(column.title, categories.length));
  }
  const codes = codesOf(column);
  return categories.map((category, code) => ({
    name: `${column.title}=${category}`,
    values: codes.map((each) => (Number.isNaN(each) ? NaN : Number(each === code))),
  }));
}

/** The mean of the present values, 0 if there is none. @param {Float64Array} values @param {number[]} rows */
function meanOf(values, rows) {
  let [sum, known] = [0, 0];
  for (const row of rows) {
    if (Number.isNaN(values[row])) continue;
    sum += values[row];
    known += 1;
  }
  return known === 0 ? 0 : sum / known;
}

/** The rows in which no column has a hole. @param {Float64Array[]} columns */
function wholeRows(columns) {
  const hasHole = new Uint8Array(columns[0].length);
  for (const values of columns) {
    for (let row = 0; row < values.length; row += 1)
      if (Number.isNaN(values[row])) hasHole[row] = 1;
  }
  /** @type {number[]} */
  const rows = [];
  hasHole.forEach((hole, row) => hole === 0 && rows.push(row));
  return rows;
}

/**
 * The rows that are left out for missing values, and the column that costs most of them.
 * @param {Column[]} columns as they are used
 * @param {Pick<TableChoices, "label" | "missing">} choices
 * @returns {{rows: number, column: Column, holes: number, first: number} | null} `first`: the row
 *   of the first missing value of the column; null if all rows are whole
 */
export function leftOut(columns, { label, missing }) {
  const used = columns.filter(({ type }, index) =>
    missing === "mean" ? index === label : index === label || type !== "text",
  );
  const values = used.map((column) =>
    column.type === "category" || column.type === "text" ? codesOf(column) : numbersOf(column),
  );
  const rows = columns[0].cells.length - wholeRows(values).length;
  if (rows === 0) return null;
  const holes = values.map((each) => each.filter(Number.isNaN).length);
  const most = holes.indexOf(Math.max(...holes));
  return {
    rows,
    column: used[most],
    holes: holes[most],
    first: values[most].findIndex(Number.isNaN),
  };
}
