/** The game that the visitor plays: the moves so far, and who makes them. It continues after a visit of another tab. */

import { signal } from "../../vendor/preact.js";

/**
 * @import { GameView } from "../../engine/messages.js"
 * @typedef {0 | 1} Player the one who began, or the other
 * @typedef {{actions: number[], visitor: Player | null, isHeld: boolean}} Match
 *   `visitor`: whose moves the visitor makes; null if the network makes all; `isHeld`: it waits before the next one
 * @typedef {"policy" | "visits" | "q" | "none"} Heat the numbers in the cells
 */

/** @type {Match} */
const NEW = { actions: [], visitor: 0, isHeld: false };

export const match = signal(NEW);
/** How far the network looks ahead, and what the cells show. */
export const choices = signal({ simulations: 64, heat: /** @type {Heat} */ ("policy") });
/** The move at which the visitor points in the list. */
export const pointedAt = signal(/** @type {number | null} */ (null));

export const SIMULATIONS = [0, 16, 64, 256];
/** @type {Heat[]} */
export const HEATS = ["policy", "visits", "q", "none"];

/** Begin a game. @param {Player | null} visitor null to watch one */
export const begin = (visitor) => (match.value = { ...NEW, actions: [], visitor });

/** Move, unless the game has changed meanwhile. @param {number[]} after the moves before @param {number} action */
export function move(after, action) {
  if (match.value.actions !== after) return;
  match.value = { ...match.value, actions: [...after, action] };
}

/** Stop the game that is watched before the next move, or continue it. */
export const hold = () => (match.value = { ...match.value, isHeld: !match.value.isHeld });

/**
 * The number of moves that are left after an undo: the visitor is to move again, or in a game that is watched, the one
 * who moved last. Null if there is nothing to take back.
 * @param {Match} game @param {number[]} turns whose move it was before each action, and is now
 */
export function movesAfterUndo({ actions, visitor }, turns) {
  for (let left = Math.min(actions.length, turns.length) - 1; left >= 0; left -= 1)
    if (visitor === null || turns[left] === visitor) return left;
  return null;
}

/** Take back the last move of the visitor, with the answer to it. @param {number[]} turns */
export function undo(turns) {
  const left = movesAfterUndo(match.value, turns);
  if (left === null) return;
  const { actions, visitor } = match.value;
  match.value = { actions: actions.slice(0, left), visitor, isHeld: visitor === null };
}

/** Whether a view is of these moves. @param {GameView | null} view @param {number[]} actions @returns {view is GameView} */
export const isOf = (view, actions) =>
  view !== null &&
  view.position.actions.length === actions.length &&
  view.position.actions.every((action, at) => action === actions[at]);

/**
 * The move of the network: the most visited one, or the most probable one if it does not look ahead; the first moves of
 * a game that is watched are drawn, with these as their chances, so that no game is like the last. Without a network all
 * moves are equal.
 * @param {GameView} view @param {number} drawn how many moves are @param {() => number} [random] from 0 to 1
 */
export function answer({ position, search }, drawn, random = Math.random) {
  const { legal, actions } = position;
  if (legal.length === 0) return null;
  const ratings = search && (search.simulations > 0 ? search.visits : search.prior);
  const of = (/** @type {number} */ action) => (ratings ? ratings[action] : 1);
  if (!ratings || actions.length < drawn) {
    let rest = random() * legal.reduce((sum, action) => sum + of(action), 0);
    for (const action of legal) if ((rest -= of(action)) < 0) return action;
  }
  return legal.reduce((best, action) => (of(action) > of(best) ? action : best), legal[0]);
}
