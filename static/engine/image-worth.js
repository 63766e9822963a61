/**
 * Whether the image of Python's memory is worth its bytes, which depends on the line: an image saves
 * work, but is larger than the files that Python needs without it. The line is measured with the bytes that arrive.
 */

/** @import { Amount } from "./downloads.js" */

/** The work that an image saves: 3 s on two cores of a laptop, more on most phones. */
const SAVED_MS = 4000;
/** The NumPy wheel and the library, which have to be fetched without an image. */
const INSTEAD_BYTES = 3e6;
/** A first verdict needs so many bytes of the image, or so much time. */
const SURE = { bytes: 2e6, ms: 600 };
/** A line is as quick as it was for so long. */
const WINDOW_MS = 1500;

/**
 * A line on which the files that are needed in any case come more slowly than this, in bytes per second,
 * is not asked for an image at all: it would be given up. Quick is what has brought so many bytes; slow,
 * what has not after so many milliseconds.
 */
const FIRST = { rate: 1e6, bytes: 96 << 10, ms: 1500 };

/** Connections on which the visitor waits or pays for each megabyte. */
const NARROW = /^(slow-2g|2g|3g)$/;

/** Whether the browser says that few bytes are to be used. */
export function isNarrow() {
  const { saveData = false, effectiveType = "" } = /** @type {any} */ (navigator).connection ?? {};
  return saveData || NARROW.test(effectiveType);
}

/** Whether a line is quick enough for an image to be begun, by the first bytes of other files. */
export class FirstBytes {
  /** @type {{at: number, bytes: number} | undefined} */
  #first;
  /** @type {(isQuick: boolean) => void} */
  #settle = () => {};
  /** Resolves as soon as that is known. @type {Promise<boolean>} */
  isQuick = new Promise((resolve) => (this.#settle = resolve));

  /** Note the bytes that have arrived of all files. @param {number} bytes @param {number} [now] in milliseconds */
  add(bytes, now = performance.now()) {
    this.#first ??= { at: now, bytes };
    const [arrived, ms] = [bytes - this.#first.bytes, now - this.#first.at];
    const isQuick = 1000 * arrived >= FIRST.rate * ms;
    if (isQuick ? arrived >= FIRST.bytes : ms >= FIRST.ms) this.#settle(isQuick);
  }

  /** All has arrived, or fails to: there is nothing to wait for. */
  end() {
    this.#settle(true);
  }
}

/**
 * Whether a file of the document has come on a quick line: a large one, not from a cache.
 * @param {PerformanceEntryList} [entries]
 */
export function cameQuickly(entries = performance.getEntriesByType("resource")) {
  return entries.some((entry) => {
    const { transferSize, responseStart, responseEnd } = /** @type {PerformanceResourceTiming} */ (
      entry
    );
    return (
      transferSize >= FIRST.bytes &&
      1000 * transferSize >= FIRST.rate * (responseEnd - responseStart)
    );
  });
}

export class ImageWorth {
  #abort = new AbortController();
  /** @type {{at: number, bytes: number}[]} all that has arrived, over time */
  #line = [];
  #began = 0;
  #settle = () => {};
  /** Whether `likely` has resolved. */
  isLikely = false;
  /** Resolves once the image is likely to be worth it. @type {Promise<void>} */
  likely = new Promise((resolve) => {
    this.#settle = () => {
      this.isLikely = true;
      resolve();
    };
  });

  /** Aborts when the image is not worth it. */
  get signal() {
    return this.#abort.signal;
  }

  /**
   * Note the bytes that have arrived.
   * @param {Amount} image
   * @param {number} bytes of all files together
   * @param {number} [now] in milliseconds
   */
  add({ received, total }, bytes, now = performance.now()) {
    if (this.#line.length === 0) this.#began = now;
    this.#line.push({ at: now, bytes });
    while (this.#line.length > 2 && this.#line[1].at < now - WINDOW_MS) this.#line.shift();
    if (received >= total) {
      this.#settle();
      return;
    }
    if (received < SURE.bytes && now - this.#began < SURE.ms) return;
    const [first] = this.#line;
    const more = Math.max(0, total - received - INSTEAD_BYTES);
    if (more * (now - first.at) > SAVED_MS * (bytes - first.bytes)) this.#abort.abort();
    else this.#settle();
  }
}
