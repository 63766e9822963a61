/** A hook for views of the trained model: asks the engine while the view is open, politely. */

import { useEffect, useRef, useState } from "../vendor/preact.js";
import { EngineFailure } from "./engine-client.js";
import { t } from "./locale.js";
import * as store from "./store.js";
import { useProgress } from "./use-training.js";

/** The shortest time from one answer to the next question. */
const INTERVAL_MS = 250;
/** The time between two answers is at least this many times what an answer costs Python. */
const REST = 14;
const LONGEST_REST_MS = 10_000;

/**
 * Ask for a view of the model, again whenever it was trained further, the visitor looks back to another
 * step, or `inputs` change.
 * A question costs the training at most a fifteenth of its time, except those for new `inputs`,
 * which are a person's.
 * @template {{seconds: number}} Answer
 * @param {() => Promise<Answer>} ask
 * @param {unknown[]} inputs of the question
 * @returns {{answer: Answer | null, problem: string}} the last answer; `problem`: why there is no newer one
 */
export function useLook(ask, inputs) {
  const [answer, setAnswer] = useState(/** @type {Answer | null} */ (null));
  const [problem, setProblem] = useState("");
  const asking = useRef({ busy: false, next: 0, timer: 0, isStale: false, isOpen: true, generation: 0, ask });
  const state = asking.current;
  state.ask = ask;

  function schedule() {
    if (!state.isOpen || !state.isStale || state.busy || state.timer) return;
    state.timer = setTimeout(() => {
      state.timer = 0;
      question();
    }, Math.max(0, state.next - performance.now()));
  }

  async function question() {
    if (!store.liveModel.value) return;
    const { generation } = state;
    state.busy = true;
    state.isStale = false;
    try {
      const next = await state.ask();
      const rest = store.runState.value === "running" ? Math.min(REST * 1000 * next.seconds, LONGEST_REST_MS) : 0;
      state.next = performance.now() + Math.max(INTERVAL_MS, rest);
      if (state.isOpen && generation === state.generation) {
        setAnswer(next);
        setProblem("");
      }
    } catch (failure) {
      state.next = performance.now() + REST * INTERVAL_MS;
      // A Python that was replaced has no answer, and the next one will be asked.
      const info = failure instanceof EngineFailure ? failure.info : null;
      if (state.isOpen && generation === state.generation && info?.type !== "EngineError") {
        setProblem(t().inspect.problem(/** @type {Error} */ (failure).message));
      }
    } finally {
      state.busy = false;
      schedule();
    }
  }

  const known = store.liveModel.value;
  const isOver = store.runState.value;
  const { began } = store.executed.value;
  const past = store.past.value;
  useEffect(() => {
    setAnswer(null); // of another run
    setProblem("");
  }, [began]);
  useEffect(() => {
    state.generation += 1; // the answer on its way is to another question
    state.next = 0;
    clearTimeout(state.timer);
    state.timer = 0;
  }, [began, past, ...inputs]);
  const changed = () => {
    state.isStale = store.liveModel.value;
    schedule();
  };
  useProgress(changed);
  useEffect(changed, [known, isOver, began, past, ...inputs]);
  useEffect(() => () => {
    state.isOpen = false;
    clearTimeout(state.timer);
  }, []);
  return { answer, problem };
}
