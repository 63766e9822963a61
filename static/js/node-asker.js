/** Asks the engine for a node of the graph, as often as it is worth and only while it is looked at. */

import { EngineFailure } from "./engine-client.js";
import { nodeView } from "./questions.js";

/**
 * @import { NodeView } from "../engine/messages.js"
 * @typedef {Parameters<typeof nodeView>[0]} NodeQuestion
 */

/** The shortest time from one question to the next. */
const INTERVAL_MS = 200;
/** The time between two answers is at least this many times what an answer costs. */
const REST = 14;
const FAILURE_MS = 1000;

export class NodeAsker {
  /** @type {NodeQuestion | null} */
  #question = null;
  #take;
  #visible = false;
  #stale = false;
  #busy = false;
  #timer = 0;
  #next = 0;

  /** @param {(view: NodeView | null, problem: string) => void} take receives an answer, or why there is none */
  constructor(take) {
    this.#take = take;
  }

  /** Ask this from now on; null: nothing. @param {NodeQuestion | null} question */
  ask(question) {
    this.#question = question;
    this.#stale = true;
    this.#next = 0; // a question that the visitor has just asked does not wait
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#schedule();
  }

  /** The weights have changed. */
  changed() {
    this.#stale = true;
    this.#schedule();
  }

  /** @param {boolean} visible */
  show(visible) {
    this.#visible = visible;
    this.#schedule();
  }

  #schedule() {
    if (!this.#question || !this.#visible || !this.#stale || this.#busy || this.#timer) return;
    const wait = Math.max(0, this.#next - performance.now());
    // There are no frames in a hidden tab.
    this.#timer = setTimeout(() => requestAnimationFrame(() => {
      this.#timer = 0;
      this.#send();
    }), wait);
  }

  async #send() {
    const question = this.#question;
    if (!question || !this.#visible || !this.#stale || this.#busy) return;
    this.#busy = true;
    this.#stale = false;
    const asked = performance.now();
    let rest = FAILURE_MS;
    try {
      const view = await nodeView(question);
      rest = REST * 1000 * view.seconds;
      if (question === this.#question) this.#take(view, "");
    } catch (failure) {
      // A Python that was replaced has no answer, and the next one will be asked.
      const info = failure instanceof EngineFailure ? failure.info : null;
      const problem = info?.type === "EngineError" ? "" : /** @type {Error} */ (failure).message;
      if (question === this.#question) this.#take(null, problem);
    } finally {
      this.#busy = false;
      if (question === this.#question) this.#next = Math.max(asked + INTERVAL_MS, performance.now() + rest);
      this.#schedule();
    }
  }
}
