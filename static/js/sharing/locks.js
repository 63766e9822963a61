/** The lines that are locked: by a teacher, for links, or by the author of the link that was opened. */

import { computed, signal } from "../../vendor/preact.js";
import { MOST_RANGES, relocate, spansOf, withRange } from "../editor/line-locks.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/**
 * @import { LineRange } from "../editor/line-locks.js"
 *
 * @typedef {{lines: LineRange[], isHeld: boolean}} Locks of one example
 *   `isHeld`: they came with a link, so that they are kept from changes here
 */

/** @type {Locks} */
const NONE = { lines: [], isHeld: false };

/** Those of the open example. */
export const locksHere = computed(() => store.locks.value[store.exampleId.value] ?? NONE);

/** Positions of the text that cannot be changed here. */
const heldSpans = computed(() =>
  locksHere.value.isHeld ? spansOf(store.source.value, locksHere.value.lines) : [],
);

/** How often a change was refused: components with values of the program then show them again. */
export const refusals = signal(0);

/** Whether a piece of the program is, at least in part, kept from changes. @param {{from: number, to: number}} piece */
export const isHeld = ({ from, to }) =>
  heldSpans.value.some((span) => span.from <= to && from <= span.to);

/** @param {LineRange[]} lines of the open example @param {boolean} held */
export function setLocks(lines, held = locksHere.peek().isHeld) {
  const now = { lines, isHeld: held && lines.length > 0 };
  if (JSON.stringify(now) === JSON.stringify(locksHere.peek())) return;
  const all = { ...store.locks.peek(), [store.exampleId.peek()]: now };
  store.locks.value = Object.fromEntries(
    Object.entries(all).filter(([, each]) => each.lines.length > 0),
  );
}

/** Lock more lines, for links of this program. @param {LineRange} range */
export function lockLines(range) {
  const lines = withRange(locksHere.peek().lines, range);
  if (lines.length <= MOST_RANGES) return setLocks(lines);
  store.note(t().locks.tooMany(MOST_RANGES));
}

/** @param {LineRange} range one of the locked ones */
export const unlockLines = (range) =>
  setLocks(locksHere.peek().lines.filter(([from, to]) => from !== range[0] || to !== range[1]));

/** Make the program of a link one's own. */
export function unlockCopy() {
  setLocks([]);
  // What else the note of a link says, of its losses or of hidden parts, still holds.
  const shared = store.shared.peek();
  if (shared && !shared.expected && !shared.hidden?.length) store.shared.value = null;
  store.note(t().locks.unlocked);
}

/** Say why a change does not happen. */
export function refuse() {
  refusals.value = refusals.peek() + 1; // perhaps within an effect, which must not follow it
  store.note(t().locks.held, t().locks.unlockCopy, unlockCopy);
}

/**
 * Have the locks follow their lines to another version of the program.
 * @param {string} code
 * @returns {boolean} whether it can take the place of the present one; otherwise it is said why not
 */
export function moveLocks(code) {
  const { lines, isHeld: held } = locksHere.peek();
  if (lines.length === 0) return true;
  const moved = relocate(store.source.peek(), code, lines);
  if (held && moved.includes(null)) {
    refuse();
    return false;
  }
  setLocks(moved.filter((each) => each !== null));
  return true;
}
