/** Changes of the text between two brackets: the other elements, their comments and lines stay. */

/** @import { Change, Range } from "./types.js" */

/**
 * @typedef {object} List the text between brackets
 * @property {Range} inside
 * @property {Range[]} elements
 */

/** Where the line of a position begins. @param {string} text @param {number} position */
export const lineStart = (text, position) => text.lastIndexOf("\n", position - 1) + 1;

/** The white space at the beginning of a line. @param {string} text @param {number} position */
export const indentAt = (text, position) =>
  /^[ \t]*/.exec(text.slice(lineStart(text, position)))?.[0] ?? "";

/**
 * An element with lines of its own.
 * @param {string} text
 * @param {Range} element
 * @returns {{from: number, to: number, comma: boolean} | null} with the line break and a comment after it
 */
function rowOf(text, element) {
  const from = lineStart(text, element.from);
  if (text.slice(from, element.from).trim() !== "") return null;
  const rest = /^[ \t]*(,?)[ \t]*(#[^\n]*)?\n/.exec(text.slice(element.to));
  return rest && { from, to: element.to + rest[0].length, comma: rest[1] === "," };
}

/** Whether an element is the first of its line. @param {string} text @param {Range} element */
const beginsLine = (text, element) =>
  text.slice(lineStart(text, element.from), element.from).trim() === "";

/**
 * @param {string} text
 * @param {List} list
 * @param {number} index where the element will be
 * @param {string} added
 * @returns {Change[]}
 */
export function insertElement(text, { inside, elements }, index, added) {
  if (elements.length === 0) return insertFirst(text, inside, added);
  if (index === 0) {
    const [first] = elements;
    const row = rowOf(text, first);
    const insert = row ? `${indentAt(text, first.from)}${added},\n` : `${added}, `;
    return [insertion(row ? row.from : first.from, insert)];
  }
  const before = elements[index - 1];
  const row = rowOf(text, before);
  const indent = indentAt(text, before.from);
  if (row?.comma) return [insertion(row.to, `${indent}${added},\n`)];
  if (row) return [insertion(before.to, ","), insertion(row.to, `${indent}${added}\n`)];
  const isColumn = beginsLine(text, before) && elements.length > 1;
  return [insertion(before.to, isColumn ? `,\n${indent}${added}` : `, ${added}`)];
}

/** @param {string} text @param {Range} inside @param {string} added @returns {Change[]} */
function insertFirst(text, inside, added) {
  if (!text.slice(inside.from, inside.to).includes("\n")) return [insertion(inside.from, added)];
  const at = lineStart(text, inside.to);
  return [insertion(at, `${indentAt(text, inside.to)}    ${added},\n`)];
}

/** @param {string} text @param {List} list @param {number} index @returns {Change[]} */
export function removeElement(text, { elements }, index) {
  const element = elements[index];
  const [before, after] = [elements[index - 1], elements[index + 1]];
  const row = rowOf(text, element);
  if (row) {
    const deleted = removal(row.from, row.to);
    if (row.comma || after || !before) return [deleted];
    const comma = text.indexOf(",", before.to); // the last element has none, in this list
    return [removal(comma, comma + 1), deleted];
  }
  if (after && isPlain(text, element.to, after.from)) return [removal(element.from, after.from)];
  if (before && !text.slice(before.to, element.from).includes("#"))
    return [removal(before.to, element.to)];
  const comma = /^[ \t]*,/.exec(text.slice(element.to))?.[0].length ?? 0;
  return [removal(element.from, element.to + comma)];
}

/** Whether only a comma and spaces are between. @param {string} text @param {number} from @param {number} to */
const isPlain = (text, from, to) => /^[ ,]*$/.test(text.slice(from, to));

/** Exchange an element with the next. @param {string} text @param {List} list @param {number} index @returns {Change[]} */
export function swapElements(text, { elements }, index) {
  const [a, b] = [elements[index], elements[index + 1]];
  const [rowA, rowB] = [rowOf(text, a), rowOf(text, b)];
  if (!rowA || !rowB) return swapTexts(text, a, b);
  // A comment stays with its element; whether the last has a comma stays as it is.
  const [tailA, tailB] = [text.slice(a.to, rowA.to), text.slice(b.to, rowB.to)];
  const withComma = rowB.comma ? tailB : `,${tailB}`;
  const asLast = rowB.comma ? tailA : tailA.replace(",", "");
  return [
    { from: a.from, to: rowA.to, insert: text.slice(b.from, b.to) + withComma },
    { from: b.from, to: rowB.to, insert: text.slice(a.from, a.to) + asLast },
  ];
}

/** @param {string} text @param {Range} a @param {Range} b @returns {Change[]} */
export const swapTexts = (text, a, b) => [
  { from: a.from, to: a.to, insert: text.slice(b.from, b.to) },
  { from: b.from, to: b.to, insert: text.slice(a.from, a.to) },
];

/** @param {number} at @param {string} insert @returns {Change} */
export const insertion = (at, insert) => ({ from: at, to: at, insert });

/** @param {number} from @param {number} to @returns {Change} */
export const removal = (from, to) => ({ from, to, insert: "" });

/** The text after changes that do not overlap. @param {string} text @param {Change[]} changes */
export function applyChanges(text, changes) {
  // From the end, so that positions stay right; of two insertions in one place, the first comes first.
  const ordered = [...changes].reverse().sort((a, b) => b.from - a.from);
  return ordered.reduce(
    (result, { from, to, insert }) => result.slice(0, from) + insert + result.slice(to),
    text,
  );
}
