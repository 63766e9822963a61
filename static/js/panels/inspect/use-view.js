/** A hook for views of the trained model: asks the engine while the view is open, politely. */

import { useEffect, useRef, useState } from "../../../vendor/preact.js";
import { Asker, interval, restAfter } from "../../engine/asker.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { useProgress } from "../../training/use-training.js";

const LONGEST_REST_MS = 10_000;

/**
 * Ask for a view of the model, again whenever it was trained further, the visitor looks back to another
 * step, or `inputs` change.
 * A question costs the training at most a twentieth of its time, except questions for new `inputs`,
 * which are a person's.
 * @template {{seconds: number}} Answer
 * @param {() => Promise<Answer>} ask
 * @param {unknown[]} inputs of the question
 * @param {{value: boolean}} isReady whether Python can answer
 * @returns {{answer: Answer | null, problem: string}} the last answer; `problem`: why there is no newer one
 */
export function useView(ask, inputs, isReady = store.canInspect) {
  const [answer, setAnswer] = useState(/** @type {Answer | null} */ (null));
  const [problem, setProblem] = useState("");
  const latest = useRef(ask);
  latest.current = ask;
  const asker = useRef(/** @type {Asker | null} */ (null));
  asker.current ??= new Asker(
    async (isCurrent) => {
      const next = await latest.current();
      const take = () => {
        if (!isCurrent()) return;
        setAnswer(next);
        setProblem("");
      };
      const rest =
        store.runState.value === "running" ? Math.min(restAfter(next.seconds), LONGEST_REST_MS) : 0;
      return { take, interval: interval(), rest };
    },
    (why, isCurrent) => {
      if (isCurrent && why) setProblem(t().inspect.problem(why));
    },
  );

  const known = isReady.value;
  const state = store.runState.value;
  const { began } = store.executed.value;
  const past = store.past.value;
  useEffect(() => {
    asker.current?.show(true);
    return () => {
      asker.current?.renewed(false); // the answer on its way is nobody's
      asker.current?.show(false);
    };
  }, []);
  useEffect(() => {
    setAnswer(null); // of another run
    setProblem("");
  }, [began]);
  useEffect(() => asker.current?.renewed(isReady.value), [began, past, ...inputs]);
  const changed = () => asker.current?.changed(isReady.value);
  useProgress(changed);
  useEffect(changed, [known, state]);
  return { answer, problem };
}
