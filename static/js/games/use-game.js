/** A hook that asks Python for the board after the visitor's moves, and for what the network thinks of it. */

import { useEffect, useRef, useState } from "../../vendor/preact.js";
import { Asker, QUICK_MS, interval, restAfter } from "../engine/asker.js";
import { gameView } from "../engine/questions.js";
import * as store from "../state/store.js";
import { useProgress } from "../training/use-training.js";
import { whyNot } from "./game-words.js";
import { choices, isOf, match, refuse } from "./match.js";

/**
 * @import { GameRules, GameView } from "../../engine/messages.js"
 */

/** How long a question while training keeps the next one waiting, at most. */
const LONGEST_REST_MS = 15_000;

/**
 * The last answer, which may be of fewer moves than there are. After a move the board comes first, then the search; it
 * is asked for again whenever the network has learned something.
 * @param {GameRules | null} rules of a program that has not run
 * @returns {{view: GameView | null, problem: string}}
 */
export function useGame(rules) {
  const [view, setView] = useState(/** @type {GameView | null} */ (null));
  const [problem, setProblem] = useState("");
  const latest = useRef({ view, rules });
  latest.current = { view, rules };
  const asker = useRef(/** @type {Asker | null} */ (null));
  asker.current ??= new Asker(
    async (isCurrent) => {
      const { actions } = match.value;
      const isNew = !isOf(latest.current.view, actions);
      const { simulations } = choices.value;
      const next = await gameView(actions, isNew ? 0 : simulations, latest.current.rules);
      const isWhole = !next.search || next.search.asked === simulations;
      const take = () => {
        if (!isCurrent()) return;
        latest.current = { ...latest.current, view: next };
        setView(next);
        setProblem("");
        if (next.refused) refuse(actions, next.position.actions, whyNot(next));
        if (!isWhole) asker.current?.changed();
      };
      const isTraining = store.runState.value === "running";
      const rest = isWhole && isTraining ? Math.min(restAfter(next.seconds), LONGEST_REST_MS) : 0;
      return { take, interval: isWhole ? interval() : QUICK_MS, rest };
    },
    (why, isCurrent) => {
      if (isCurrent && why) setProblem(why);
    },
  );

  const { actions, visitor } = match.value;
  // Weights of an earlier visit are loaded only for one who plays.
  const hasBegun = () =>
    match.value.actions.length > 0 || match.value.visitor !== 0 || latest.current.view !== null;
  const isKnown = () => store.game.value !== null || (latest.current.rules !== null && hasBegun());
  useEffect(() => {
    asker.current?.show(true);
    return () => {
      asker.current?.renewed(false); // the answer on its way is nobody's
      asker.current?.show(false);
    };
  }, []);
  const { began } = store.executed.value;
  const isOfGame = JSON.stringify(rules);
  useEffect(() => {
    setProblem("");
    setView(null);
    latest.current.view = null;
  }, [began, isOfGame, store.game.value]);
  useEffect(
    () => asker.current?.renewed(isKnown()),
    [
      actions,
      visitor,
      choices.value.simulations,
      began,
      isOfGame,
      store.game.value,
      store.hasModel.value,
      store.past.value,
    ],
  );
  const changed = () => asker.current?.changed(isKnown());
  useProgress(changed);
  useEffect(changed, [store.runState.value]);
  return { view, problem };
}
