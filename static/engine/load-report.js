/** How several downloads go together: how much has arrived, and what is wrong. */

/** @import { Amount, LoadError } from "./downloads.js" */
/** @import { Delay } from "./messages.js" */

/**
 * @typedef {{progress: Amount | null, problem: Delay | null}} LoadState
 *   `problem`: null while all is well; `progress`: null while it is not worth a word, and
 *   without a total while the size of a file is unknown, so that the part that has arrived never shrinks
 */

/** A start from the browser's cache is over before anybody could read how far it is. */
const QUIET_MS = 1000;
const EVERY_MS = 200;

export class LoadReport {
  #send;
  /** By URL. @type {Map<string, Amount>} */
  #amounts = new Map();
  /** @type {Map<string, Delay>} */
  #problems = new Map();
  #began = performance.now();
  #last = 0;

  /** @param {(state: LoadState) => void} send */
  constructor(send) {
    this.#send = send;
  }

  /**
   * Options for the download of a file, which belongs to those reported here.
   * @param {string} url
   * @returns {{progress: (amount: Amount) => void, problem: (problem: LoadError | null, pause: number) => void}}
   */
  options(url) {
    if (!this.#amounts.has(url)) this.#amounts.set(url, { received: 0, total: 0 });
    return {
      progress: (amount) => {
        this.#amounts.set(url, amount);
        const now = performance.now();
        if (now - this.#began < QUIET_MS || now - this.#last < EVERY_MS) return;
        this.#last = now;
        this.#report();
      },
      problem: (problem, pause) => {
        if (problem) this.#problems.set(url, delay(problem, pause));
        else this.#problems.delete(url);
        this.#report();
      },
    };
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

  #report() {
    const [problem = null] = this.#problems.values();
    const isKnown = [...this.#amounts.values()].every(({ total }) => total > 0);
    this.#send({
      progress: { received: this.received, total: isKnown ? this.#sum("total") : 0 },
      problem,
    });
  }
}

/** @param {LoadError} problem @param {number} pause milliseconds until the next try @returns {Delay} */
export const delay = ({ sentence, status }, pause) => ({
  ...sentence,
  seconds: Math.ceil(pause / 1000),
  isMissing: status === 404,
});
