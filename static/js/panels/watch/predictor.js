/**
 * Asks for the digit of a drawing, a few times a second at most, one question at a time: the
 * visitor's network, or one that comes with the page while there is none.
 */

import { predict } from "../../engine/questions.js";

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

  /** @param {boolean} hasModel whether the visitor's network can be asked */
  modelChanged(hasModel) {
    this.#hasModel = hasModel;
    if (this.#image) this.#changed();
  }

  #changed() {
    if (!this.#image) {
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
      const { probabilities, label } = await (this.#hasModel ? predict(image) : readFirst(image));
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

/** @param {Float32Array} image */
async function readFirst(image) {
  const { firstReader } = await import("./first-reader.js");
  return (await firstReader()).read(image);
}
