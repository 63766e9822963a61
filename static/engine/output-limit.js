/**
 * Bounds what Python writes past its streams, for instance with `os.write(1, …)`: of a flood, the
 * page gets the first part of each window of time, and the number of characters that follow. What
 * Python prints is bounded by `app/playgrad/page/output.py`.
 */

/** @import { Output } from "./messages.js" */

const WINDOW_MS = 250;
const MOST_CHARACTERS = 32_000;

export class OutputLimit {
  #send;
  #room = MOST_CHARACTERS;
  #leftOut = 0;
  #window = 0;
  #timer = 0;

  /** @param {(output: Output) => void} send */
  constructor(send) {
    this.#send = send;
  }

  /** @param {string} text */
  write(text) {
    if (performance.now() - this.#window >= WINDOW_MS) this.#beginWindow();
    const part = text.slice(0, this.#room);
    this.#room -= part.length;
    this.#leftOut += text.length - part.length;
    if (part) this.#send({ text: part });
    if (this.#leftOut === 0) return;
    clearTimeout(this.#timer); // fires once Python is idle
    this.#timer = setTimeout(() => this.#beginWindow(), WINDOW_MS);
  }

  #beginWindow() {
    if (this.#leftOut > 0) this.#send({ text: "", left_out: this.#leftOut, end: "\n" });
    this.#leftOut = 0;
    this.#room = MOST_CHARACTERS;
    this.#window = performance.now();
  }
}
