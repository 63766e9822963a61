/**
 * The queue between the engine and the store. Events that come in floods (progress, output) are
 * applied once a frame, so that the page never falls behind; any other event flushes the queue.
 */

/** @typedef {import("./engine-client.js").EngineEvent} EngineEvent */

/** Browsers draw no frames for a page in the background; its events still must not pile up. */
const BACKGROUND_MS = 250;

/** @type {ReadonlySet<string>} */
const FLOODS = new Set(["progress", "stdout", "stderr", "figure"]);

/** Whether an event is output of which a part is missing. @param {EngineEvent} [event] */
const hasGap = (event) => event !== undefined && "left_out" in event;

export class EventQueue {
  #apply;
  /** @type {EngineEvent[]} */
  #waiting = [];
  #frame = 0;
  #timer = 0;

  /** @param {(events: EngineEvent[]) => void} apply */
  constructor(apply) {
    this.#apply = apply;
  }

  /** @param {EngineEvent} event */
  push(event) {
    if (!this.#joined(event)) this.#waiting.push(event);
    if (!FLOODS.has(event.kind)) this.#flush();
    else if (!this.#frame && !this.#timer) {
      this.#frame = requestAnimationFrame(() => this.#flush());
      this.#timer = setTimeout(() => this.#flush(), BACKGROUND_MS);
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

  #flush() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = this.#timer = 0;
    const events = this.#waiting;
    this.#waiting = [];
    this.#apply(events);
  }
}
