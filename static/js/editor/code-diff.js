/** The difference between two programs, line by line and in a few words. */

import { t } from "../words/locale.js";

/** @typedef {{kind: "same" | "added" | "removed", text: string}} DiffLine */

/** Pairs of lines that are compared; parts with more are compared as a whole. */
const MOST_PAIRS = 1_000_000;
/** Changes that are put into words, and the characters of each side of one. */
const MOST_CHANGES = 20;
const MOST_CHARACTERS = 200;
const TOKENS = /\d[\w.]*|\w+|\s+|"[^"]*"|'[^']*'|[^\w\s]/g;

/**
 * The lines of both programs in order, from their longest common subsequence.
 * @param {string} before
 * @param {string} after
 * @returns {DiffLine[]}
 */
export function diffLines(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old.at(-1 - end) === now.at(-1 - end)
  )
    end += 1;
  const same = (/** @type {string[]} */ lines) => lines.map((text) => line("same", text));
  return [
    ...same(old.slice(0, start)),
    ...changed(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

/** @param {DiffLine["kind"]} kind @param {string} text @returns {DiffLine} */
const line = (kind, text) => ({ kind, text });

/** @param {string[]} old @param {string[]} now @returns {DiffLine[]} */
function changed(old, now) {
  const removed = old.map((text) => line("removed", text));
  const added = now.map((text) => line("added", text));
  if (old.length === 0 || now.length === 0 || old.length * now.length > MOST_PAIRS)
    return [...removed, ...added];
  const [a, b] = numbered(old, now);
  // common[i][j]: lines that the rests from i and j have in common.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      common[i][j] =
        a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && a[i] === b[j]) {
      lines.push(line("same", old[i]));
      i += 1;
      j += 1;
    } else if (j === now.length || (i < old.length && common[i + 1][j] >= common[i][j + 1])) {
      lines.push(removed[i]);
      i += 1;
    } else {
      lines.push(added[j]);
      j += 1;
    }
  }
  return lines;
}

/** The lines as numbers, equal ones for equal lines: long lines are compared only once. @param {string[][]} programs */
function numbered(...programs) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  for (const text of programs.flat()) if (!numbers.has(text)) numbers.set(text, numbers.size);
  return programs.map((lines) => lines.map((text) => numbers.get(text)));
}

/**
 * The changes of code in a few words: "learning_rate 0.003 → 0.01", "+ nn.Dropout(0.2),".
 * @param {string} before
 * @param {string} after
 * @returns {string[]}
 */
export function changesInWords(before, after) {
  /** @type {[old: string | null, now: string | null][]} */
  const changes = [];
  /** @type {Record<"removed" | "added", string[]>} */
  const hunk = { removed: [], added: [] };
  for (const { kind, text } of [...diffLines(before, after), line("same", "")]) {
    if (kind !== "same") {
      if (bare(text)) hunk[kind].push(bare(text));
      continue;
    }
    for (const pair of pairs(hunk.removed, hunk.added)) changes.push(pair);
    hunk.removed = [];
    hunk.added = [];
  }
  const words = changes.slice(0, MOST_CHANGES).map(([old, now]) => {
    if (old === null || now === null)
      return old === null ? `+ ${shortened(now ?? "")}` : `− ${shortened(old)}`;
    return replaced(old, now);
  });
  const left = changes.length - words.length;
  return left > 0 ? [...words, t().runs.moreChanges(left)] : words;
}

/** Without indentation and comment. @param {string} text */
const bare = (text) => text.replace(/(^|\s)#[^]*$/, "").trim();

/** @param {string} text */
const shortened = (text) =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

/** @param {string[]} removed @param {string[]} added @returns {[old: string | null, now: string | null][]} */
function pairs(removed, added) {
  if (removed.length !== added.length)
    return [
      ...removed.map((text) => /** @type {[string, null]} */ ([text, null])),
      ...added.map((text) => /** @type {[null, string]} */ ([null, text])),
    ];
  return removed.flatMap((text, index) =>
    text === added[index] ? [] : [/** @type {[string, string]} */ ([text, added[index]])],
  );
}

/** @param {string} old @param {string} now */
function replaced(old, now) {
  const [a, b] = [old.match(TOKENS) ?? [], now.match(TOKENS) ?? []];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end))
    end += 1;
  const parts = [
    a.slice(start, a.length - end).join(""),
    b.slice(start, b.length - end).join(""),
  ].map((part) => shortened(part.trim()));
  // Only its end: the search starts anew at each character of a word.
  const before = a.slice(0, start).join("").slice(-MOST_CHARACTERS);
  const name = /(\w+)\s*[=(]\s*$/.exec(before)?.[1];
  if (!name) return `${shortened(old)} → ${shortened(now)}`;
  return `${name} ${parts[0] || t().runs.nothing} → ${parts[1] || t().runs.nothing}`;
}
