/**
 * The beat of the page: while a network trains, all that changes by itself changes in the same frames.
 *
 * A frame costs about the same whether one number or all panels have changed, and takes the processor
 * from the training. What a visitor does never waits for a beat.
 */

import { batch } from "../vendor/preact.js";

/** The time from one beat to the next: at least five a second, with a frame that comes late. */
export const BEAT_MS = 180;
/** Browsers draw no frames for a page in the background; its changes still must not pile up. */
const BACKGROUND_MS = 250;

export class Beat {
  /** @type {(() => void)[]} */
  #waiting = [];
  #frame = 0;
  #timer = 0;
  #deadline = 0;
  #last = -BEAT_MS;

  /** Call a function in the next beat, which is the next frame if the last beat is long ago. @param {() => void} change */
  next(change) {
    this.#waiting.push(change);
    if (this.#deadline) return;
    const wait = Math.max(0, this.#last + BEAT_MS - performance.now());
    this.#timer = setTimeout(() => (this.#frame = requestAnimationFrame(() => this.#strike())), wait);
    this.#deadline = setTimeout(() => this.#strike(), wait + BACKGROUND_MS);
  }

  #strike() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    this.#frame = this.#timer = this.#deadline = 0;
    // From when it was due: frames that come late would make beats rare.
    const now = performance.now();
    const due = this.#last + BEAT_MS;
    this.#last = now - due < BEAT_MS / 2 ? due : now;
    const changes = this.#waiting;
    this.#waiting = [];
    batch(() => changes.forEach(attempt));
  }
}

/** Call a function; one that fails must not take the others with it. @param {() => void} change */
function attempt(change) {
  try {
    change();
  } catch (failure) {
    queueMicrotask(() => {
      throw failure;
    });
  }
}

/** The only one of the page. */
export const beat = new Beat();
