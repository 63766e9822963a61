/** Asks the engine for a view again and again: as often as it is worth, and only while it is looked at. */

import { EngineFailure } from "./engine-client.js";
import * as store from "../store.js";

/** The shortest time from one question to the next, for what moves before the eye or follows a hand. */
export const QUICK_MS = 170;
/** The same for everything else while a network trains: what the page draws costs the training, too. */
const CALM_MS = 400;
/** The time between two answers is at least this many times what an answer costs Python. */
const REST = 14;
/** The time from a failure to the next question. */
const FAILURE_MS = 1000;
/** How long what is due waits for the next progress: in a frame of its own it would cost the training more. */
export const GRACE_MS = 120;

/** The milliseconds to leave the model alone after an answer. @param {number} seconds that it took Python */
export const restAfter = (seconds) => REST * 1000 * seconds;

/** The shortest time from one question to the next, of a view that may be calm. */
export const interval = () => (store.runState.value === "running" ? CALM_MS : QUICK_MS);

export class Asker {
  #ask;
  #failed;
  #visible = false;
  #stale = false;
  #busy = false;
  #timer = 0;
  #next = 0;
  #generation = 0;

  /**
   * @param {(isCurrent: () => boolean) => Promise<{interval: number, rest: number}>} ask asks, and takes the
   *   answer if the question is still the current one; resolves to the shortest times in milliseconds from
   *   this question and from its answer to the next question
   * @param {(problem: string, isCurrent: boolean) => void} failed is told why there is no answer, in words; "" if
   *   Python was replaced, and the next one will be asked
   */
  constructor(ask, failed) {
    this.#ask = ask;
    this.#failed = failed;
  }

  /** What is asked about has changed. @param {boolean} [isKnown] whether there is anything to ask about */
  changed(isKnown = true) {
    this.#stale = isKnown;
    this.#schedule();
  }

  /** The question is another one. The visitor has asked it, so that it does not wait. @param {boolean} [isKnown] */
  renewed(isKnown = true) {
    this.#generation += 1;
    this.#next = 0;
    this.changed(isKnown);
  }

  /** @param {boolean} visible */
  show(visible) {
    this.#visible = visible;
    this.#schedule();
  }

  #schedule() {
    if (!this.#visible || !this.#stale || this.#busy) return;
    const wait = this.#next - performance.now();
    if (wait <= 0 && !globalThis.document?.hidden) this.#send();
    else if (!this.#timer) {
      // There are no frames in a hidden tab.
      this.#timer = setTimeout(() => requestAnimationFrame(() => this.#send()), Math.max(0, wait) + GRACE_MS);
    }
  }

  async #send() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!this.#visible || !this.#stale || this.#busy) return;
    this.#busy = true;
    this.#stale = false;
    const generation = this.#generation;
    const isCurrent = () => generation === this.#generation;
    const asked = performance.now();
    const { interval: between, rest } = await this.#ask(isCurrent).catch((failure) => {
      const isReplaced = failure instanceof EngineFailure && failure.info.type === "EngineError";
      this.#failed(isReplaced ? "" : failure.message, isCurrent());
      return { interval: QUICK_MS, rest: FAILURE_MS };
    });
    this.#busy = false;
    if (isCurrent()) this.#next = Math.max(asked + between, performance.now() + rest);
    this.#schedule();
  }
}
