/**
 * The rules of tic-tac-toe, and its positions as a network sees them that rates them.
 * @typedef {1 | -1} Side X and O
 * @typedef {(Side | 0)[]} Cells the nine of a board, row by row; 0 is free
 */

export const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
];

/** @type {Cells} */
export const EMPTY = [0, 0, 0, 0, 0, 0, 0, 0, 0];

/** Whether a program has the lines that win. @param {string} source */
export function isOfTicTacToe(source) {
  const triples = source.matchAll(/[[(]\s*(\d)\s*,\s*(\d)\s*,\s*(\d)\s*[\])]/g);
  const written = new Set(Array.from(triples, ([, ...cells]) => cells.sort().join()));
  return LINES.every((line) => written.has(line.join()));
}

/** The side that moves next; X begins. @param {Cells} cells @returns {Side} */
export const sideToMove = (cells) => (cells.filter((cell) => cell !== 0).length % 2 ? -1 : 1);

/** The line that has won, if any. @param {Cells} cells */
export const wonLine = (cells) =>
  LINES.find(([a, b, c]) => cells[a] && cells[a] === cells[b] && cells[a] === cells[c]) ?? null;

/** @param {Cells} cells */
export const isOver = (cells) => wonLine(cells) !== null || !cells.includes(0);

/** The board after a move of the side whose turn it is. @param {Cells} cells @param {number} at @returns {Cells} */
export function moved(cells, at) {
  const side = sideToMove(cells);
  return cells.map((cell, each) => (each === at ? side : cell));
}

/**
 * The input of a network that rates moves: for each cell, the position after a move there, as the stones of the side
 * that has moved, then the other side's.
 * @param {Cells} cells
 */
export function positionsAfter(cells) {
  const side = sideToMove(cells);
  return cells.map((_, at) => {
    const after = moved(cells, at);
    return [side, -side].flatMap((of) => after.map((cell) => (cell === of ? 1 : 0)));
  });
}

/** The free cell with the best rating; the first free one if all are NaN. @param {Cells} cells @param {ArrayLike<number>} ratings */
export function bestMove(cells, ratings) {
  const free = [...cells.keys()].filter((at) => cells[at] === 0);
  return free.reduce((best, at) => (ratings[at] > ratings[best] ? at : best), free[0]);
}
