/** What each cell of a board shows: its stone, the move that it stands for, and a number of the search. */

/**
 * @import { Game, Search } from "../../engine/messages.js"
 * @import { Heat } from "./match.js"
 * @typedef {"marks" | "points" | "drop" | "squares"} Look marks: X and O; points: stones on crossings of lines; drop:
 *   discs that fall down columns; squares: discs in squares
 */

/** @param {Game} game @returns {Look} */
export function lookOf({ name, columns, at }) {
  if (at.length > columns && at[0] !== null && at[0] === at[columns]) return "drop";
  if (/^go\b/i.test(name)) return "points";
  return /^tic-tac-toe/i.test(name) ? "marks" : "squares";
}

/**
 * The cells in which the numbers of the moves are shown: where the stone would come to rest.
 * @param {Game} game @param {number[]} board @returns {Map<number, number>} the action of each
 */
export function cellsOfMoves({ at }, board) {
  /** @type {Map<number, number>} */
  const cellOf = new Map(); // of a column, the last free cell is the lowest
  for (const [cell, action] of at.entries())
    if (action !== null && board[cell] === 0) cellOf.set(action, cell);
  return new Map([...cellOf].map(([action, cell]) => [cell, action]));
}

/** The moves that no cell stands for, other than a pass, as in games of taking matches. @param {Game} game */
export const movesBesideCells = ({ actions, at, passes }) =>
  [...actions.keys()].filter((action) => action !== passes && !at.includes(action));

/** The cell of a move; null for a pass. @param {Game} game @param {number[]} board @param {number} action */
export const cellOf = (game, board, action) =>
  [...cellsOfMoves(game, board)].find(([, each]) => each === action)?.[0] ?? null;

/**
 * The number of a move that the cells show, and its part of the largest one, from −1 to 1, for the colour; null for none.
 * @param {Search} search @param {number} action @param {Heat} heat
 */
export function heatOf({ prior, visits, q }, action, heat) {
  if (heat === "policy") return prior[action] / Math.max(...prior, 1e-9);
  if (heat === "visits") return visits[action] / Math.max(...visits, 1);
  return heat === "q" && visits[action] > 0 ? q[action] : null;
}

/** On a large board, only so many cells have numbers: those of the largest ones. */
const NUMBERED = 12;
const MANY_MOVES = 40;

/**
 * The least colour of a cell whose number is shown.
 * @param {Search | null} search @param {number[]} actions @param {Heat} heat
 */
export function leastNumbered(search, actions, heat) {
  if (!search || actions.length <= MANY_MOVES) return 0;
  const colours = actions.map((action) => Math.abs(heatOf(search, action, heat) ?? 0));
  return colours.sort((one, other) => other - one)[NUMBERED - 1];
}

/** The columns and rows as the names of moves have them, such as a and 1; null if these are other names. @param {Game} game */
export function coordinates({ rows, columns, actions, at }) {
  const names = at.map((action) => /^([a-z])(\d+)$/.exec(action === null ? "" : actions[action]));
  if (names.every((name) => name !== null)) {
    const across = names.slice(0, columns).map((name) => name?.[1] ?? "");
    const down = Array.from({ length: rows }, (_, row) => names[row * columns]?.[2] ?? "");
    return { across, down };
  }
  if (lookOf({ name: "", rows, columns, actions, at, passes: null }) !== "drop") return null;
  const across = at.slice(0, columns).map((action) => String((action ?? 0) + 1));
  return { across, down: null };
}
