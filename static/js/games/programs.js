/** The game of a program, as far as its code says: there is a board before anything runs. */

/**
 * @import { Game, GameRules } from "../../engine/messages.js"
 * @typedef {{rules: GameRules, form: Game}} KnownGame `rules`: which of playgrad's games it is; `form`: its board
 */

const PLAYER = /\bSelfPlay\b/;
const GAME = /\b(TicTacToe|ConnectFour|Othello|Go)\s*\(\s*(?:size\s*=\s*)?(\d{1,2})?/;
const UP_TO_19 = Array.from({ length: 18 }, (_, at) => at + 2);
/** The columns of boards: the usual number first. @type {Record<string, number[]>} */
const SIZES = { TicTacToe: [3], ConnectFour: [7], Othello: [6, 4, 8], Go: [9, ...UP_TO_19] };
/** The columns of a board; Go leaves out i. */
const [LETTERS, GO_LETTERS] = ["abcdefghijklmnopqrstuvwxyz", "abcdefghjklmnopqrstuvwxyz"];
const NAMES = /** @type {const} */ ({
  TicTacToe: "tic-tac-toe",
  ConnectFour: "Connect Four",
  Othello: "Othello",
  Go: "Go",
});

/** The code without comments: a game that is only mentioned does not count. @param {string} source */
const codeOf = (source) => source.replace(/#[^\n]*/g, "");

/** Whether a program has a player that learns a game by playing itself. @param {string} source */
export const playsItself = (source) => PLAYER.test(codeOf(source));

/** The game of such a program, if it is one of playgrad's. @param {string} source @returns {KnownGame | null} */
export function gameOf(source) {
  const match = playsItself(source) ? GAME.exec(codeOf(source)) : null;
  if (!match) return null;
  const name = /** @type {keyof typeof NAMES} */ (match[1]);
  const size = match[2] ? Number(match[2]) : SIZES[name][0];
  if (!SIZES[name].includes(size)) return null;
  const rows = name === "ConnectFour" ? size - 1 : size;
  return { rules: { name, size }, form: formOf(name, rows, size) };
}

/** The game as Python describes it. @param {keyof typeof NAMES} name @param {number} rows @param {number} columns @returns {Game} */
function formOf(name, rows, columns) {
  const base = { name: NAMES[name], rows, columns };
  const cells = [...Array(rows * columns).keys()];
  if (name === "ConnectFour") {
    const actions = Array.from({ length: columns }, (_, at) => `column ${at + 1}`);
    return { ...base, actions, at: cells.map((cell) => cell % columns), passes: null };
  }
  const letters = name === "Go" ? GO_LETTERS : LETTERS;
  const points = cells.map((cell) => {
    const row = Math.floor(cell / columns);
    return `${letters[cell % columns]}${name === "Go" ? rows - row : row + 1}`;
  });
  const passes = name === "TicTacToe" ? null : cells.length;
  return { ...base, actions: passes === null ? points : [...points, "pass"], at: cells, passes };
}

/** The stones on the board before the first move. @param {Game} form @returns {number[]} */
export function firstBoard({ name, rows, columns }) {
  const board = Array(rows * columns).fill(0);
  if (name !== NAMES.Othello) return board;
  const corner = (rows / 2 - 1) * columns + columns / 2 - 1;
  board[corner] = board[corner + columns + 1] = 2;
  board[corner + 1] = board[corner + columns] = 1;
  return board;
}
