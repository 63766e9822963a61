/** Asks the engine for a node of the graph, as often as it is worth and only while it is looked at. */

import { Asker, FAILURE_MS, QUICK_MS, interval, restAfter } from "./asker.js";
import { EngineFailure } from "./engine-client.js";
import { nodeView } from "./questions.js";

/**
 * @import { NodeView } from "../engine/messages.js"
 * @typedef {Parameters<typeof nodeView>[0]} NodeQuestion
 */

export class NodeAsker {
  #asker = new Asker((isCurrent) => this.#send(isCurrent));
  /** @type {NodeQuestion | null} */
  #question = null;
  #take;

  /** @param {(view: NodeView | null, problem: string) => void} take receives an answer, or why there is none */
  constructor(take) {
    this.#take = take;
  }

  /** Ask this from now on; null: nothing. @param {NodeQuestion | null} question */
  ask(question) {
    this.#question = question;
    this.#asker.renewed(question !== null);
  }

  /** The weights have changed. */
  changed() {
    this.#asker.changed(this.#question !== null);
  }

  /** @param {boolean} visible */
  show(visible) {
    this.#asker.show(visible);
  }

  /** @param {() => boolean} isCurrent */
  async #send(isCurrent) {
    try {
      const view = await nodeView(/** @type {NodeQuestion} */ (this.#question));
      if (isCurrent()) this.#take(view, "");
      return { interval: interval(), rest: restAfter(view.seconds) };
    } catch (failure) {
      // A Python that was replaced has no answer, and the next one will be asked.
      const info = failure instanceof EngineFailure ? failure.info : null;
      const problem = info?.type === "EngineError" ? "" : /** @type {Error} */ (failure).message;
      if (isCurrent()) this.#take(null, problem);
      return { interval: QUICK_MS, rest: FAILURE_MS };
    }
  }
}
