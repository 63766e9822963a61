/**
 * Schedules the frames of the page: while a network trains, all automatic changes are applied in the same frames.
 *
 * A frame costs about the same whether one number or all panels have changed, and takes the processor
 * from the training. A visitor's actions never wait for a scheduled frame.
 */

import { batch } from "../../vendor/preact.js";

/** The time from one scheduled frame to the next where the page is quickly drawn: at least five a second, with a frame that comes late. */
export const FRAME_MS = 180;
/** Where drawing takes long, as without a GPU, frames are rarer: they take at most one part in so many of the time. */
const PARTS = 20;
const LONGEST_MS = 600;
/** The weight of the last frame in the measured time of a frame. */
const NEWEST = 0.2;
/** Browsers draw no frames for a page in the background; its changes still must not pile up. */
const BACKGROUND_MS = 250;

export class FrameScheduler {
  /** @type {(() => void)[]} */
  #waiting = [];
  #frame = 0;
  #timer = 0;
  #deadline = 0;
  #last = -LONGEST_MS;
  /** When the next frame is due, if changes wait for it. */
  #due = Infinity;
  /** The milliseconds that a frame takes the page. */
  #cost = 0;

  /**
   * Call a function in the next scheduled frame, which is the browser's next one if the last is long ago.
   * @param {() => void} change
   * @param {boolean} [isQuick] whether it is animated, and is shown five times a second however long a frame takes
   */
  next(change, isQuick = false) {
    this.#waiting.push(change);
    const due = this.#last + (isQuick ? FRAME_MS : this.#calm);
    if (due >= this.#due) return;
    this.#cancel();
    this.#due = due;
    const wait = Math.max(0, due - performance.now());
    this.#timer = setTimeout(() => (this.#frame = requestAnimationFrame(() => this.#draw())), wait);
    this.#deadline = setTimeout(() => this.#strike(), wait + BACKGROUND_MS);
  }

  get #calm() {
    return Math.min(LONGEST_MS, Math.max(FRAME_MS, PARTS * this.#cost));
  }

  /** Apply the changes in a frame, and measure how long that takes the page, layout and painting included. */
  #draw() {
    const began = performance.now();
    setTimeout(() => (this.#cost += NEWEST * (performance.now() - began - this.#cost)));
    this.#strike();
  }

  #strike() {
    // From when it was due: frames that come late would otherwise become rare.
    const now = performance.now();
    this.#last = now - this.#due < FRAME_MS / 2 ? this.#due : now;
    this.#cancel();
    const changes = this.#waiting;
    this.#waiting = [];
    batch(() => changes.forEach(attempt));
  }

  #cancel() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    this.#frame = this.#timer = this.#deadline = 0;
    this.#due = Infinity;
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

/** The page's only scheduler. */
export const frames = new FrameScheduler();
