/**
 * Locked lines of a program: ranges of lines, from 1, in ascending order, that the recipient of a link
 * cannot change. They follow their text, so edits elsewhere move them.
 */

import * as is from "../../engine/forms.js";

/** @import { Change } from "../blocks/types.js" */

/** @typedef {[number, number]} LineRange first and last line */

/** More ranges than a teacher locks by hand. */
export const MOST_RANGES = 200;

const range = is.tuple(is.count, is.count);

/** Ranges in ascending order that do not overlap. @type {is.Check} */
export const areRanges = (value) =>
  is.listOf(range)(value) &&
  value.length <= MOST_RANGES &&
  value.every(
    (/** @type {LineRange} */ [from, to], /** @type {number} */ at) =>
      from > (value[at - 1]?.[1] ?? 0) && from <= to,
  );

/** @param {string} code */
const linesOf = (code) => code.split(/\r\n?|\n/);

/** Whether a program has all the lines. @param {string} code @param {LineRange[]} ranges */
export const fit = (code, ranges) => (ranges.at(-1)?.[1] ?? 0) <= linesOf(code).length;

/** The ranges with more lines; ranges that touch become one. @param {LineRange[]} ranges @param {LineRange} added @returns {LineRange[]} */
export function withRange(ranges, [from, to]) {
  const near = ranges.filter((each) => each[0] <= to + 1 && each[1] >= from - 1);
  const others = ranges.filter((each) => !near.includes(each));
  /** @type {LineRange} */
  const merged = [
    Math.min(from, ...near.map((each) => each[0])),
    Math.max(to, ...near.map((each) => each[1])),
  ];
  return [...others, merged].sort((a, b) => a[0] - b[0]);
}

/**
 * Where the locked lines are in another version of the program: the same lines, in the same order.
 * @param {string} before
 * @param {string} after
 * @param {LineRange[]} ranges of `before`
 * @returns {(LineRange | null)[]} null for lines that `after` does not have there
 */
export function relocate(before, after, ranges) {
  const [old, now] = [linesOf(before), linesOf(after)];
  let next = 0;
  return ranges.map(([from, to]) => {
    const block = old.slice(from - 1, to);
    const at = block.length === 0 ? -1 : indexOf(block, now, next);
    if (at < 0) return null;
    next = at + block.length;
    return [at + 1, next];
  });
}

/** The place of lines among others, by the algorithm of Knuth, Morris and Pratt; -1 for none. @param {string[]} block @param {string[]} lines @param {number} from */
function indexOf(block, lines, from) {
  // borders[i]: the length of the longest beginning of the block that ends before line i + 1, and is not all of it.
  const borders = [0];
  const longer = (/** @type {number} */ matched, /** @type {string} */ line) => {
    while (matched > 0 && block[matched] !== line) matched = borders[matched - 1];
    return block[matched] === line ? matched + 1 : 0;
  };
  for (let i = 1; i < block.length; i += 1) borders.push(longer(borders[i - 1], block[i]));
  let matched = 0;
  for (let at = from; at < lines.length; at += 1) {
    matched = longer(matched, lines[at]);
    if (matched === block.length) return at + 1 - matched;
  }
  return -1;
}

/**
 * The changes from one version of a program to another that leave the locked lines alone.
 * @param {string} before with "\n" between lines, as is `after`
 * @param {string} after
 * @param {LineRange[]} ranges of `before`
 * @returns {Change[]}
 */
export function changesAround(before, after, ranges) {
  const moved = relocate(before, after, ranges);
  const kept = ranges.flatMap((each, at) => (moved[at] ? [[each, moved[at]]] : []));
  const old = spansOf(
    before,
    kept.map(([each]) => each),
  );
  const now = spansOf(
    after,
    kept.map(([, each]) => each),
  );
  /** @type {Change[]} */
  const changes = [];
  for (let at = 0; at <= kept.length; at += 1) {
    const from = old[at - 1]?.to ?? 0;
    const to = old[at]?.from ?? before.length;
    const insert = after.slice(now[at - 1]?.to ?? 0, now[at]?.from ?? after.length);
    if (before.slice(from, to) !== insert) changes.push({ from, to, insert });
  }
  return changes;
}

/**
 * The positions of lines in the text, without the break after the last.
 * @param {string} code
 * @param {LineRange[]} ranges
 */
export function spansOf(code, ranges) {
  const starts = [0];
  for (const {
    index,
    0: { length },
  } of code.matchAll(/\r\n?|\n/g))
    starts.push(index + length);
  return ranges
    .filter(([, to]) => to <= starts.length)
    .map(([from, to]) => ({
      from: starts[from - 1],
      to:
        to === starts.length
          ? code.length
          : starts[to] - (code.startsWith("\r\n", starts[to] - 2) ? 2 : 1),
    }));
}
