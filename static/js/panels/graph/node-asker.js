/** Asks the engine for a node of the graph, as often as it is worth and only while it is shown. */

import { Asker, interval, restAfter } from "../../engine/asker.js";
import { nodeView } from "../../engine/questions.js";

/**
 * @import { NodeView } from "../../../engine/messages.js"
 * @typedef {Parameters<typeof nodeView>[0]} NodeQuestion
 */

export class NodeAsker {
  #asker = new Asker(
    (isCurrent) => this.#send(isCurrent),
    (problem, isCurrent) => isCurrent && this.#take(null, problem),
  );
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
    const view = await nodeView(/** @type {NodeQuestion} */ (this.#question));
    const take = () => {
      if (isCurrent()) this.#take(view, "");
    };
    return { take, interval: interval(), rest: restAfter(view.seconds) };
  }
}
