/**
 * The queue between the engine and the store. Events that a run sends again and again (progress, epochs,
 * output, checkpoints) are applied in the scheduled frames of the page, so that it never falls behind and leaves
 * the processor to the training; any other event, and the first progress of a training, flushes the queue.
 */

import { frames } from "../state/frame-scheduler.js";

/** @typedef {import("./engine-client.js").EngineEvent} EngineEvent */

/** @type {ReadonlySet<string>} */
const FREQUENT = new Set([
  "progress",
  "epoch_end",
  "rating",
  "stdout",
  "stderr",
  "figure",
  "checkpoint",
  "doctor",
]);

/** Whether an event is output of which a part is missing. @param {EngineEvent} [event] */
const hasGap = (event) => event !== undefined && "left_out" in event;

export class EventQueue {
  #apply;
  /** @type {EngineEvent[]} */
  #waiting = [];
  #isExpected = false;
  /** Whether a training has begun and made no step yet. */
  #isBeginning = false;

  /** @param {(events: EngineEvent[]) => void} apply */
  constructor(apply) {
    this.#apply = apply;
  }

  /** @param {EngineEvent} event */
  push(event) {
    if (!this.#joined(event)) this.#waiting.push(event);
    const isFirst = this.#isBeginning && event.kind === "progress";
    this.#isBeginning = !isFirst && (this.#isBeginning || event.kind === "fit_begin");
    if (isFirst || !FREQUENT.has(event.kind)) this.flush();
    else if (!this.#isExpected) {
      this.#isExpected = true;
      frames.next(() => {
        this.#isExpected = false;
        this.flush();
      });
    }
  }

  /**
   * Append output to the last event if that is output of the same stream: a loop that prints sends
   * many small pieces.
   * @param {EngineEvent} event
   */
  #joined(event) {
    const last = this.#waiting.at(-1);
    if (hasGap(event) || hasGap(last)) return false;
    if (event.kind === "stdout" && last?.kind === "stdout") last.text += event.text;
    else if (event.kind === "stderr" && last?.kind === "stderr") last.text += event.text;
    else return false;
    return true;
  }

  /** Apply waiting events, as before the page shows another run. */
  flush() {
    if (this.#waiting.length === 0) return; // another event has flushed them
    const events = this.#waiting;
    this.#waiting = [];
    this.#apply(events);
  }
}
