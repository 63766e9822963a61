/** Hooks that keep a game going: the network's moves, and a new game for another program. */

import { useEffect, useRef } from "../../vendor/preact.js";
import { answer, choices, isOf, match, move, newMatch } from "./match.js";

/**
 * @import { Game, GameView } from "../../engine/messages.js"
 * @import { Player } from "./match.js"
 */

/** The time before a move of the network, in which the visitor sees their own stone; and of each move that is watched. */
const [ANSWER_MS, WATCHED_MS] = [350, 900];
/** The part of the board that moves by chance fill in a game that is watched. */
const DRAWN = 0.15;

/** Begin anew when the visitor opens a program with another game. @param {Game | null} form */
export function useNewGame(form) {
  const name = form ? `${form.name} ${form.rows} × ${form.columns}` : "";
  useEffect(() => {
    const { of } = match.value;
    if (name && name !== of) match.value = of ? newMatch(name) : { ...match.value, of: name };
  }, [name]);
}

/** Make the network's moves, as soon as there is an answer for the position. @param {GameView | null} view */
export function useNetwork(view) {
  const { actions, visitor, isHeld } = match.value;
  const last = useRef(0);
  const isNext = isOf(view, actions) && !isHeld && isTheNetworks(view, visitor);
  const latest = useRef(view);
  latest.current = view;
  useEffect(() => {
    if (!isNext) return;
    const sinceLast = performance.now() - last.current;
    const wait = visitor === null ? WATCHED_MS - sinceLast : ANSWER_MS;
    const timer = setTimeout(
      () => {
        const { current } = latest;
        if (!isOf(current, actions)) return;
        const { rows, columns } = current.game;
        const action = answer(current, visitor === null ? DRAWN * rows * columns : 0);
        last.current = performance.now();
        if (action !== null) move(actions, action);
      },
      Math.max(0, wait),
    );
    return () => clearTimeout(timer);
  }, [actions, isNext]);
}

/** Whether the network is to move, and has looked ahead as far as the visitor wants. @param {GameView} view @param {Player | null} visitor */
function isTheNetworks({ position, search }, visitor) {
  if (position.result !== null || position.turns.at(-1) === visitor) return false;
  return !search || search.asked === choices.value.simulations;
}
