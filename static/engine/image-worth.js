/**
 * Whether the image of Python's memory is worth its bytes, which depends on the line: an image saves
 * work, but is larger than the files that Python needs without it. The line is measured with the bytes that arrive.
 */

import { PIXELS } from "./pixels.js";

/** @import { Amount } from "./downloads.js" */

/** The work that an image saves: 3 s on two cores of a laptop, more on most phones. */
const SAVED_MS = 4000;
/** A server on this machine is slow only while the machine is busy, and so would be a start without the image. */
const BUSY = 3;
/** The NumPy wheel and the library, which have to be fetched without an image. */
const INSTEAD_BYTES = 3e6;
/** A first verdict needs such a share of the image, or so much time. */
const SURE = { share: 1 / 8, ms: 600 };
/** A line is as quick as it was for so long. */
const WINDOW_MS = 1500;

/**
 * A line on which the files that are needed in any case come more slowly than this, in bytes per second,
 * is not asked for an image at all: it would be given up. Quick is what has brought so many bytes; slow,
 * what has not after so many milliseconds.
 */
const FIRST = { rate: 1e6, bytes: 96 << 10, ms: 1500 };

/**
 * Where a file comes from a server on this machine, at this many bytes per second or more, decompressing it takes
 * longer than its bytes. The rate tells such a server from a distant one at the other end of a tunnel.
 */
const NEAR = { rate: 4e6, host: /^(localhost|127(\.\d+){3}|\[::1\])$/ };
/** The type by which a file is asked for uncompressed (PLAIN in playgrad/server/files.py). */
export const PLAIN = "application/vnd.playgrad.plain";

/** Connections on which the visitor waits or pays for each megabyte. */
const NARROW = /^(slow-2g|2g|3g)$/;

/** Whether the browser says that few bytes are to be used. */
export function isNarrow() {
  const { saveData = false, effectiveType = "" } =
    /** @type {any} */ (globalThis.navigator)?.connection ?? {};
  return saveData || NARROW.test(effectiveType);
}

/** @param {number} rate of a line, in bytes per second */
const isQuick = (rate) => rate >= FIRST.rate;
/** @param {number} rate in bytes per second */
const isNear = (rate) => rate >= NEAR.rate && NEAR.host.test(globalThis.location?.hostname);

/** Whether a line is quick enough for an image to be begun, by the first bytes of other files. */
export class FirstBytes {
  /** @type {{at: number, bytes: number} | undefined} */
  #first;
  /** @type {(isQuick: boolean) => void} */
  #settle = () => {};
  /** Resolves as soon as that is known. @type {Promise<boolean>} */
  isQuick = new Promise((resolve) => (this.#settle = resolve));
  /** Whether large files are to come uncompressed. @type {boolean | undefined} undefined until `isQuick` resolves */
  isNear;

  /** Note the bytes that have arrived of all files. @param {number} bytes @param {number} [now] in milliseconds */
  add(bytes, now = performance.now()) {
    this.#first ??= { at: now, bytes };
    const [arrived, ms] = [bytes - this.#first.bytes, now - this.#first.at];
    const rate = (1000 * arrived) / ms;
    if (isQuick(rate) ? arrived < FIRST.bytes : ms < FIRST.ms) return;
    this.isNear ??= isNear(rate);
    this.#settle(isQuick(rate));
  }

  /** All has arrived, or fails to: there is nothing to wait for. */
  end() {
    this.#settle(true);
  }
}

/**
 * The bytes per second with which the quickest large file has come; 0 if all came from a cache.
 * @param {PerformanceEntryList} entries
 */
function rateOf(entries) {
  const large = /** @type {PerformanceResourceTiming[]} */ (entries).filter(
    ({ transferSize }) => transferSize >= FIRST.bytes,
  );
  return Math.max(
    0,
    ...large.map((each) => (1000 * each.transferSize) / (each.responseEnd - each.responseStart)),
  );
}

/**
 * The type in which a file of a data set is to come, beside any other.
 * @param {boolean} areImages whether it may come packed, which takes a phone longer than the bytes that it saves on a quick line
 * @param {PerformanceEntryList} [entries] the files of the document
 */
export function typeOfData(areImages, entries = performance.getEntriesByType("resource")) {
  const rate = isNarrow() ? 0 : rateOf(entries);
  if (isNear(rate)) return PLAIN;
  return areImages && !isQuick(rate) ? PIXELS : undefined;
}

export class ImageWorth {
  #abort = new AbortController();
  /** @type {{at: number, bytes: number}[]} all that has arrived, over time */
  #line = [];
  #began = 0;
  #settle = () => {};
  #saved;
  /** Whether `likely` has resolved. */
  isLikely = false;
  /** Resolves once the image is likely to be worth it. @type {Promise<void>} */
  likely = new Promise((resolve) => {
    this.#settle = () => {
      this.isLikely = true;
      resolve();
    };
  });

  /** @param {boolean} [isNear] whether the server is on this machine */
  constructor(isNear = false) {
    this.#saved = isNear ? BUSY * SAVED_MS : SAVED_MS;
  }

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
    if (received < SURE.share * total && now - this.#began < SURE.ms) return;
    const [first] = this.#line;
    const more = Math.max(0, total - received - INSTEAD_BYTES);
    if (more * (now - first.at) > this.#saved * (bytes - first.bytes)) this.#abort.abort();
    else this.#settle();
  }
}
