/** The game that the visitor plays: the moves so far, and who makes them. It continues after a visit of another tab. */

import { signal } from "../../vendor/preact.js";

/**
 * @import { GameView } from "../../engine/messages.js"
 * @typedef {0 | 1} Player the one who began, or the other
 * @typedef {{of: string, actions: number[], visitor: Player | null, isHeld: boolean}} Match
 *   `of`: the game, "" before the first one; `visitor`: whose moves the visitor makes; null if the network makes all; `isHeld`: it waits before the next one
 * @typedef {"policy" | "visits" | "q" | "none"} Heat the numbers in the cells
 */

/** @param {string} of @param {Player | null} [visitor] @returns {Match} */
export const newMatch = (of, visitor = 0) => ({ of, actions: [], visitor, isHeld: false });

export const match = signal(newMatch(""));
/** How far the network looks ahead, and what the cells show. */
export const choices = signal({ simulations: 64, heat: /** @type {Heat} */ ("policy") });
/** Why the move that was tried last could not be made; "" once another one was. */
export const refusal = signal("");
/** The move at which the visitor points in the list. */
export const pointedAt = signal(/** @type {number | null} */ (null));

export const SIMULATIONS = [0, 16, 64, 256];
/** @type {Heat[]} */
export const HEATS = ["policy", "visits", "q", "none"];

/** @param {Partial<Match>} changes */
function change(changes) {
  match.value = { ...match.value, ...changes };
  refusal.value = "";
}

/** Begin a game. @param {Player | null} visitor null to watch one */
export const begin = (visitor) => change({ actions: [], visitor, isHeld: false });

/** Move, unless the game has changed meanwhile. @param {number[]} after the moves before @param {number} action */
export function move(after, action) {
  if (match.value.actions === after) change({ actions: [...after, action] });
}

/** Stop the game that is watched before the next move, or continue it. */
export const hold = () => change({ isHeld: !match.value.isHeld });

/**
 * Say why a move cannot be made, and take it back if it was.
 * @param {number[]} actions with that move @param {number[]} legal those before it @param {string} why
 */
export function refuse(actions, legal, why) {
  if (match.value.actions !== actions) return;
  if (legal.length < actions.length) change({ actions: legal });
  refusal.value = why;
}

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
  change({ actions: actions.slice(0, left), isHeld: visitor === null });
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
