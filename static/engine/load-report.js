/** The progress of several downloads together: how much has arrived, and problems. */

/** @import { Amount, LoadError } from "./downloads.js" */
/** @import { Delay } from "./messages.js" */

/**
 * @typedef {Amount & {seconds: number | null}} Progress `seconds`: until all has arrived; null if unknown
 * @typedef {{progress: Progress | null, problem: Delay | null}} LoadState
 *   `problem`: null while all is well; `progress`: null while it is not worth a word, and
 *   without a total while the size of a file is unknown, so that the part that has arrived never shrinks
 */

/** A start from the browser's cache is over before anybody could read how far it is. */
const QUIET_MS = 1000;
const EVERY_MS = 200;

/** A line is as quick as it was for so long; nothing is said of it after less than the second number. */
const LINE_MS = { window: 4000, sure: 1200 };
/** How far an estimate moves to the line's current value: enough to follow it, not to jump. */
const SHARE = 0.15;

/** Estimates when all will have arrived. */
class Arrival {
  /** @type {{at: number, received: number}[]} */
  #line = [];
  /** In the milliseconds of `performance.now`. @type {number | null} */
  #end = null;

  /**
   * The seconds that are left; null if they are unknown.
   * @param {Amount} amount of newly arrived bytes
   * @param {number} now
   * @returns {number | null}
   */
  left({ received, total }, now) {
    // Another try begins at the beginning, and a file that is given up counts no more.
    if (received < (this.#line.at(-1)?.received ?? 0)) this.#line = [];
    this.#line.push({ at: now, received });
    while (this.#line.length > 2 && this.#line[1].at < now - LINE_MS.window) this.#line.shift();
    const [first] = this.#line;
    const arrived = received - first.received;
    if (total === 0 || arrived === 0 || now - first.at < LINE_MS.sure) {
      this.#end = null;
      return null;
    }
    const end = now + ((total - received) * (now - first.at)) / arrived;
    this.#end = this.#end === null ? end : this.#end + SHARE * (end - this.#end);
    return Math.max(0, this.#end - now) / 1000;
  }
}

export class LoadReport {
  #send;
  /** By URL. @type {Map<string, Amount>} */
  #amounts = new Map();
  /** @type {Map<string, Delay>} */
  #problems = new Map();
  #began = performance.now();
  #last = 0;
  #arrival = new Arrival();

  /** @param {(state: LoadState) => void} send */
  constructor(send) {
    this.#send = send;
  }

  /**
   * Options for the download of a file, which belongs to the downloads reported here.
   * @param {string} url
   * @returns {{progress: (amount: Amount) => void, problem: (problem: LoadError | null, pause: number) => void}}
   */
  options(url) {
    if (!this.#amounts.has(url)) this.#amounts.set(url, { received: 0, total: 0 });
    return {
      progress: (amount) => {
        this.#amounts.set(url, amount);
        const now = performance.now();
        if (now - this.#last < EVERY_MS) return;
        this.#last = now;
        const seconds = this.#arrival.left(this.#amount, now);
        if (now - this.#began >= QUIET_MS) this.#report(seconds);
      },
      problem: (problem, pause) => {
        if (problem) this.#problems.set(url, delay(problem, pause));
        else this.#problems.delete(url);
        this.#report();
      },
    };
  }

  /** Say again what is wrong, to who was not there. */
  repeat() {
    if (this.#problems.size > 0) this.#report();
  }

  /** What has arrived of all files, in bytes. */
  get received() {
    return this.#sum("received");
  }

  /** Count a file no more: it is not needed. @param {string} url */
  drop(url) {
    this.#amounts.delete(url);
    this.#problems.delete(url);
  }

  /** @param {keyof Amount} which */
  #sum(which) {
    return [...this.#amounts.values()].reduce((total, amount) => total + amount[which], 0);
  }

  /** Without a total while the size of a file is unknown. @returns {Amount} */
  get #amount() {
    const isKnown = [...this.#amounts.values()].every(({ total }) => total > 0);
    return { received: this.received, total: isKnown ? this.#sum("total") : 0 };
  }

  /** @param {number | null} [seconds] until all has arrived */
  #report(seconds = null) {
    const [problem = null] = this.#problems.values();
    this.#send({ progress: { ...this.#amount, seconds }, problem });
  }
}

/** @param {LoadError} problem @param {number} pause milliseconds until the next try @returns {Delay} */
export const delay = ({ sentence, status }, pause) => ({
  ...sentence,
  seconds: Math.ceil(pause / 1000),
  isMissing: status === 404,
});
