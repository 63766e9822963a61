/**
 * Numbers in the cells of a table, with a point or a comma for decimals.
 * `app/playgrad/data/cell_numbers.py` reads the same numbers; the tests compare both.
 */

/**
 * @typedef {"." | ","} Mark the decimal mark
 * @typedef {object} Tally of the cells of a column
 * @property {number} present cells with a value
 * @property {number} numbers cells that are numbers by one of the marks
 * @property {Record<Mark, number>} only numbers by this mark alone, such as 1.5 or 1,5
 * @property {Record<Mark, number>} either numbers by both marks, such as 1.234, by the mark in them
 */

/** One reading for each mark: digits, or groups of three digits with a separator between them. */
const FORMS = {
  ".": /^[+\-−]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[1-9]\d{0,2}(?:([, '’\u00a0\u202f])\d{3})(?:\1\d{3})*(?:\.\d+)?)$/i,
  ",": /^[+\-−]?(?:(?:\d+(?:,\d+)?|,\d+)(?:e[+-]?\d+)?|[1-9]\d{0,2}(?:([. '’\u00a0\u202f])\d{3})(?:\1\d{3})*(?:,\d+)?)$/i,
};
/** Numbers as programs write them that cannot be read in another way, like most numbers in files. */
const SURE = /^[+-]?(?:\d+|(?:0\d*|\d{4,})?\.\d+|\d{1,3}\.(?:\d{1,2}|\d{4,}))(?:e[+-]?\d+)?$/i;
const SEPARATORS = { ".": /[, '’\u00a0\u202f]/g, ",": /[. '’\u00a0\u202f]/g };
const MARKS = /** @type {const} */ ([".", ","]);
/** A column of numbers may have this part of other cells, which count as missing. */
export const MOST_ODD = 0.1;

/** @param {string} text without spaces around it @param {Mark} mark @returns {number} NaN for other text */
function readWith(text, mark) {
  if (!FORMS[mark].test(text)) return NaN;
  const plain = text.replace(SEPARATORS[mark], "").replace("−", "-").replace(",", ".");
  return finite(Number(plain));
}

/** @param {number} value */
const finite = (value) => (Number.isFinite(value) ? value : NaN);

/**
 * A number that is the same with both marks or a number with only one of them needs no `mark`.
 * @param {string} text without spaces around it
 * @param {Mark | null} mark of the column; null if its cells contradict each other
 * @returns {number} NaN for other text, and where the mark matters but is null
 */
export function cellNumber(text, mark) {
  if (SURE.test(text)) return finite(Number(text));
  const [point, comma] = [readWith(text, "."), readWith(text, ",")];
  if (Number.isNaN(comma) || point === comma) return point;
  if (Number.isNaN(point)) return comma;
  return mark === null ? NaN : mark === "." ? point : comma;
}

/** @param {string} text @returns {boolean} whether it is a number by one of the marks */
export const isNumber = (text) => MARKS.some((mark) => !Number.isNaN(readWith(text, mark)));

/** @param {Iterable<string>} texts the cells with a value, without spaces around them @returns {Tally} */
export function tallyOf(texts) {
  const tally = { present: 0, numbers: 0, only: { ".": 0, ",": 0 }, either: { ".": 0, ",": 0 } };
  for (const text of texts) {
    tally.present += 1;
    if (SURE.test(text) && Number.isFinite(Number(text))) {
      tally.numbers += 1;
      if (text.includes(".")) tally.only["."] += 1;
      continue;
    }
    const [point, comma] = MARKS.map((mark) => readWith(text, mark));
    const isOne = [point, comma].filter((value) => !Number.isNaN(value)).length === 1;
    if (isOne) tally.only[Number.isNaN(point) ? "," : "."] += 1;
    else if (point !== comma && !Number.isNaN(point))
      tally.either[text.includes(".") ? "." : ","] += 1;
    else if (Number.isNaN(point)) continue;
    tally.numbers += 1;
  }
  return tally;
}

/** @param {Tally} tally */
export const isNumeric = ({ present, numbers }) =>
  present > 0 && present - numbers <= MOST_ODD * present;

/**
 * The decimal mark of each column: the one that its cells tell; else the one that the other columns
 * tell; else, where a number such as 1,234 could be either, a comma in a file with semicolons
 * between its cells and no such number with a point, and a point in all others.
 * @param {Tally[]} tallies
 * @param {string} delimiter
 * @returns {{mark: Mark | null, isGuess: boolean}[]} null where the cells of a column contradict
 *   each other; `isGuess`: nothing in the file tells it
 */
export function marksOf(tallies, delimiter) {
  const numeric = tallies.filter(isNumeric);
  const told = MARKS.filter((mark) => numeric.some(({ only }) => only[mark] > 0));
  const hasPoints = numeric.some(({ either }) => either["."] > 0);
  const usual = delimiter === ";" && !hasPoints ? "," : ".";
  return tallies.map(({ only }) => {
    const own = MARKS.filter((mark) => only[mark] > 0);
    if (own.length > 0) return { mark: own.length === 1 ? own[0] : null, isGuess: false };
    return told.length === 1 ? { mark: told[0], isGuess: false } : { mark: usual, isGuess: true };
  });
}

/**
 * An example of how a column is read, if a cell is not written as programs write numbers.
 * @param {string[]} cells
 * @param {Mark | null} mark
 * @param {boolean} isGuess
 * @returns {{cell: string, value: number, other: number | null} | null} `other`: the value by the other mark
 */
export function exampleOf(cells, mark, isGuess) {
  for (const cell of cells) {
    const text = cell.trim();
    if (SURE.test(text)) continue;
    const value = cellNumber(text, mark);
    if (Number.isNaN(value)) continue;
    const other = cellNumber(text, mark === "." ? "," : ".");
    if (isGuess && other !== value) return { cell: text, value, other };
    if (Number(text) !== value) return { cell: text, value, other: null };
  }
  return null;
}
