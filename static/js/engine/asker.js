/** Asks the engine for a view again and again: as often as it is worth, and only while it is open. */

import { FRAME_MS, frames } from "../state/frame-scheduler.js";
import * as store from "../state/store.js";
import { EngineFailure } from "./engine-client.js";

/** The shortest time from one question to the next, for animations and for views that follow the pointer. */
export const QUICK_MS = FRAME_MS - 10;
/** The same for everything else while a network trains: drawing slows the training down, too. */
const CALM_MS = 400;
/**
 * The time between two answers is at least this many times the time that an answer takes Python, plus
 * the time that the page takes to draw it; less for animations, and only for Python.
 */
const [REST, QUICK_REST] = [20, 14];
/** The time from a failure to the next question. */
const FAILURE_MS = 1000;
/** However long drawing took. */
const LONGEST_REST_MS = 2000;

/** The milliseconds to leave the model alone after an answer. @param {number} seconds that it took Python @param {boolean} [isQuick] */
export const restAfter = (seconds, isQuick = false) =>
  (isQuick ? QUICK_REST : REST) * 1000 * seconds;

/** The shortest time from one question to the next, of a view that may be calm. */
export const interval = () => (store.runState.value === "running" ? CALM_MS : QUICK_MS);

/**
 * @typedef {{take: () => void, interval: number, rest: number}} Reply
 *   `take` shows the answer; the others are the shortest times in milliseconds from the question and from
 *   its answer to the next question
 */

export class Asker {
  #ask;
  #failed;
  #visible = false;
  #stale = false;
  #busy = false;
  #timer = 0;
  #next = 0;
  #generation = 0;
  /** Whether the visitor waits for the answer. */
  #isPersonal = false;
  /** Shows the answer that waits for the next frame. */
  #held = () => {};

  /**
   * @param {(isCurrent: () => boolean) => Promise<Reply>} ask
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
    this.#isPersonal = true;
    this.#stale = isKnown;
    this.#held(); // the answer of the question before
    this.#schedule();
  }

  /** @param {boolean} visible */
  show(visible) {
    this.#isPersonal ||= visible && !this.#visible;
    this.#visible = visible;
    this.#schedule();
  }

  #schedule() {
    if (!this.#visible || !this.#stale || this.#busy) return;
    const wait = this.#next - performance.now();
    if (wait <= 0 && !isHidden()) this.#send();
    else if (!this.#timer) this.#timer = setTimeout(() => this.#due(), Math.max(0, wait));
  }

  #due() {
    if (isHidden())
      requestAnimationFrame(() => this.#send()); // there are none until the tab is shown again
    else this.#send();
  }

  async #send() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!this.#visible || !this.#stale || this.#busy) return;
    this.#busy = true;
    this.#stale = false;
    const isPersonal = this.#isPersonal;
    this.#isPersonal = false;
    const generation = this.#generation;
    const isCurrent = () => generation === this.#generation;
    const asked = performance.now();
    const {
      take,
      interval: between,
      rest,
    } = await this.#ask(isCurrent).catch((failure) => this.#failure(failure, isCurrent));
    if (isCurrent()) this.#next = Math.max(asked + between, performance.now() + rest);
    const isQuick = between === QUICK_MS;
    const shown = () => {
      this.#held = () => {};
      const began = performance.now();
      take();
      const done = () => {
        this.#busy = false;
        this.#schedule();
      };
      if (isQuick) done();
      else
        setTimeout(() => {
          // after the frame
          this.#rest(performance.now() - began);
          done();
        });
    };
    if (isPersonal || !isCurrent() || store.runState.value !== "running") shown();
    else {
      this.#held = shown;
      frames.next(() => this.#held === shown && shown(), isQuick);
    }
  }

  /** Leave the processor to the training after an answer that took long to draw. @param {number} milliseconds */
  #rest(milliseconds) {
    const isAnotherAsked = this.#next === 0;
    if (!isAnotherAsked && store.runState.value === "running")
      this.#next = Math.max(
        this.#next,
        performance.now() + Math.min(restAfter(milliseconds / 1000), LONGEST_REST_MS),
      );
  }

  /** @param {Error} failure @param {() => boolean} isCurrent @returns {Reply} */
  #failure(failure, isCurrent) {
    const isReplaced = failure instanceof EngineFailure && failure.info.type === "EngineError";
    const take = () => this.#failed(isReplaced ? "" : failure.message, isCurrent());
    return { take, interval: QUICK_MS, rest: FAILURE_MS };
  }
}

const isHidden = () => globalThis.document?.hidden ?? false;
