/**
 * Bounds the output that Python writes past its streams, for instance with `os.write(1, …)`: few messages, and
 * of a flood the first part of each window of time and the number of characters that follow. What
 * Python prints is bounded by `app/playgrad/page/output.py`.
 */

/** @import { Output } from "./messages.js" */

const HOLD_MS = 30;
const WINDOW_MS = 250;
const MOST_CHARACTERS = 32_000;

export class OutputLimit {
  #send;
  #held = "";
  #leftOut = 0;
  #room = MOST_CHARACTERS;
  #sent = -Infinity;
  #window = -Infinity;
  #timer = 0;

  /** @param {(output: Output) => void} send */
  constructor(send) {
    this.#send = send;
  }

  /** @param {string} text */
  write(text) {
    const now = performance.now();
    if (now - this.#window >= WINDOW_MS) {
      this.flush();
      this.#room = MOST_CHARACTERS;
      this.#window = now;
    }
    const part = text.slice(0, this.#room);
    this.#room -= part.length;
    this.#leftOut += text.length - part.length;
    this.#held += part;
    if (this.#leftOut === 0 && now - this.#sent >= HOLD_MS) this.flush();
    // Once Python is idle, it sends the rest.
    else this.#timer ||= setTimeout(() => this.flush(), WINDOW_MS);
  }

  /** Send the pending output, before another message. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#held === "" && this.#leftOut === 0) return;
    const gap = this.#leftOut > 0 ? { left_out: this.#leftOut, end: "\n" } : {};
    this.#send({ text: this.#held, ...gap });
    this.#held = "";
    this.#leftOut = 0;
    this.#sent = performance.now();
  }
}
