/** Asks the engine to classify a drawing, a few times a second at most, one question at a time. */

import { predict } from "./actions.js";

/**
 * @typedef {{probabilities: number[] | null, label: number | null, problem: string}} Answer
 */

const INTERVAL_MS = 200;

export class Predictor {
  #report;
  /** @type {Float32Array | null} */
  #image = null;
  #hasModel = false;
  #stale = false;
  #busy = false;
  #timer = 0;
  #last = -INTERVAL_MS;

  /** @param {(answer: Answer) => void} report */
  constructor(report) {
    this.#report = report;
  }

  /** @param {Float32Array | null} image the drawing so far; null when it is empty */
  drawn(image) {
    this.#image = image;
    this.#changed();
  }

  /** @param {boolean} hasModel */
  modelChanged(hasModel) {
    this.#hasModel = hasModel;
    this.#changed();
  }

  #changed() {
    if (!this.#image || !this.#hasModel) {
      this.#stale = false;
      this.#report({ probabilities: null, label: null, problem: "" });
      return;
    }
    this.#stale = true;
    this.#schedule();
  }

  #schedule() {
    if (this.#busy || this.#timer) return;
    const wait = Math.max(0, this.#last + INTERVAL_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#ask();
    }, wait);
  }

  async #ask() {
    const image = this.#image;
    if (!image || !this.#stale) return;
    this.#busy = true;
    this.#stale = false;
    this.#last = performance.now();
    try {
      const { probabilities, label } = await predict(image);
      if (this.#image) this.#report({ probabilities, label, problem: "" });
    } catch (failure) {
      const problem = /** @type {Error} */ (failure).message;
      if (this.#image) this.#report({ probabilities: null, label: null, problem });
    } finally {
      this.#busy = false;
      if (this.#stale) this.#schedule();
    }
  }
}
