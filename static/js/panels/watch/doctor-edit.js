/** Finds the place of a suggested edit in code that may have been changed since the run. */

import { diffLines } from "../../editor/code-diff.js";

/** @import { LineChange } from "../../../engine/messages.js" */
/** @typedef {{from: number, to: number, insert: string}} TextChange */

/**
 * The changes of an edit as positions in the current code; null if a line that they touch is another.
 * @param {LineChange[]} changes of the code that ran
 * @param {string} ran
 * @param {string} now
 * @returns {TextChange[] | null}
 */
export function placed(changes, ran, now) {
  const lines = now.split("\n");
  const moved = lineNumbers(ran, now);
  const texts = changes.map((change) => placedOne(change, moved, lines, now));
  return texts.every((each) => each !== null) ? texts : null;
}

/** The current line for each old line that is the same; both from 1. @param {string} ran @param {string} now */
function lineNumbers(ran, now) {
  const numbers = new Map();
  let [old, present] = [0, 0];
  for (const { kind } of diffLines(ran, now)) {
    if (kind !== "added") old += 1;
    if (kind !== "removed") present += 1;
    if (kind === "same") numbers.set(old, present);
  }
  return numbers;
}

/**
 * @param {LineChange} change @param {Map<number, number>} moved @param {string[]} lines @param {string} now
 * @returns {TextChange | null}
 */
function placedOne(change, moved, lines, now) {
  const removesLineEnd = change.end_column === 0 && change.end_line > change.line;
  const last = removesLineEnd ? change.end_line - 1 : change.end_line;
  const first = moved.get(change.line);
  if (first === undefined) return null;
  for (let line = change.line; line <= last; line += 1) {
    if (moved.get(line) !== first + line - change.line) return null;
  }
  const from = offset(lines, first, change.column);
  const to = offset(lines, first + change.end_line - change.line, change.end_column);
  return now.slice(from, to) === change.old ? { from, to, insert: change.text } : null;
}

/** A position in the text. Python counts characters, JavaScript UTF-16. @param {string[]} lines @param {number} line @param {number} column */
function offset(lines, line, column) {
  const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  return before + [...(lines[line - 1] ?? "")].slice(0, column).join("").length;
}
