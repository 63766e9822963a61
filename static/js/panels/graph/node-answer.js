import { html, useEffect, useState } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { reasonOf } from "./node-words.js";

/** @import { Unavailable } from "../../../engine/messages.js" */

/**
 * An answer that is asked for once, and its placeholder.
 * @template A
 * @param {() => Promise<A & {problem: Unavailable | null}>} question
 * @param {unknown[]} of asks anew when these change
 * @returns {{answer: A | null, waiting: any}}
 */
export function useAnswer(question, of) {
  const [state, setState] = useState({ answer: /** @type {any} */ (null), failure: "" });
  useEffect(() => {
    let isWanted = true;
    setState({ answer: null, failure: "" });
    question().then(
      (answer) => isWanted && setState({ answer, failure: "" }),
      (failure) => isWanted && setState({ answer: null, failure: failure.message }),
    );
    return () => {
      isWanted = false;
    };
  }, of);
  const { answer, failure } = state;
  const problem = failure || (answer?.problem && reasonOf(answer.problem));
  if (problem)
    return {
      answer: null,
      waiting: html`<p class="hint" data-testid="node-problem">${problem}</p>`,
    };
  return {
    answer,
    waiting: answer ? null : html`<p class="hint" role="status">${t().nodeTabs.asking}</p>`,
  };
}
