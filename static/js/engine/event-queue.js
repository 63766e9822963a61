/**
 * The queue between the engine and the store. Events that come in floods (progress, epochs, output) are
 * applied a few times a second, so that the page never falls behind and leaves the processor to the
 * training; any other event flushes the queue.
 */

/** @typedef {import("./engine-client.js").EngineEvent} EngineEvent */

/** The time from one flood to the next, as long as an eye needs to read a number that changes. */
const INTERVAL_MS = 90;
/** Browsers draw no frames for a page in the background; its events still must not pile up. */
const BACKGROUND_MS = 250;

/** @type {ReadonlySet<string>} */
const FLOODS = new Set(["progress", "epoch_end", "stdout", "stderr", "figure"]);

/** Whether an event is output of which a part is missing. @param {EngineEvent} [event] */
const hasGap = (event) => event !== undefined && "left_out" in event;

export class EventQueue {
  #apply;
  /** @type {EngineEvent[]} */
  #waiting = [];
  #frame = 0;
  #timer = 0;
  #deadline = 0;
  #last = -INTERVAL_MS;

  /** @param {(events: EngineEvent[]) => void} apply */
  constructor(apply) {
    this.#apply = apply;
  }

  /** @param {EngineEvent} event */
  push(event) {
    if (!this.#joined(event)) this.#waiting.push(event);
    if (!FLOODS.has(event.kind)) this.#flush();
    else if (!this.#deadline) {
      const wait = Math.max(0, this.#last + INTERVAL_MS - performance.now());
      this.#timer = setTimeout(() => (this.#frame = requestAnimationFrame(() => this.#flush())), wait);
      this.#deadline = setTimeout(() => this.#flush(), Math.max(wait, BACKGROUND_MS));
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
    clearTimeout(this.#deadline);
    this.#frame = this.#timer = this.#deadline = 0;
    this.#last = performance.now();
    const events = this.#waiting;
    this.#waiting = [];
    this.#apply(events);
  }
}
