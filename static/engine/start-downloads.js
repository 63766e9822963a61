/** The downloads of Python's start. */

import { load } from "./downloads.js";
import { openImage } from "./image.js";
import { FirstBytes, PLAIN } from "./image-worth.js";
import { LoadReport } from "./load-report.js";
import { RUNTIME, importPyodide } from "./pyodide-files.js";
import { urlOf } from "./root.js";

/**
 * @import { ImageWorth } from "./image-worth.js"
 * @import { LoadState } from "./load-report.js"
 * @import { Files, Library } from "./pyodide-files.js"
 */

const [IMAGE_PATH, MADE_PATH] = ["/image/python.bin", "/image/made.bin"];
export const IMAGE = urlOf(IMAGE_PATH);
/** The image that an earlier visit has made (image-worker.js), which the service worker keeps. */
export const MADE = urlOf(MADE_PATH);

/** The files of a start, on their way. */
export class Downloads {
  /** @type {(state: LoadState) => void} */
  #send = () => {};
  #report = new LoadReport((state) => this.#send(state));
  /** @type {Files} */
  #runtime = new Map();
  #kept = Promise.resolve({ made: false, image: false });
  /** What is needed in any case tells how quick the line is. */
  line = new FirstBytes();
  /** Pyodide's own modules. @type {Promise<Library>} */
  library = importPyodide((url) => this.load(url));

  constructor() {
    this.library.catch(() => {}); // reported where it is used
  }

  /** @param {(state: LoadState) => void} report is told how the downloads go from now on, and what is wrong */
  tell(report) {
    this.#send = report;
    this.#report.repeat();
  }

  /** Begin to download what every start needs that has no template. */
  begin() {
    if (this.#runtime.size > 0) return;
    this.#runtime = this.files(RUNTIME);
    Promise.allSettled(this.#runtime.values()).then(() => this.line.end());
    const kept = Promise.all([MADE_PATH, IMAGE_PATH].map(isKept));
    this.#kept = kept.then(([made, image]) => ({ made, image }));
  }

  /** Files that Pyodide fetches by itself, once they were begun. */
  get runtime() {
    return this.#runtime;
  }

  /** Which images the service worker keeps, perhaps of another version. */
  get kept() {
    return this.#kept;
  }

  get #type() {
    return this.line.isNear ? PLAIN : undefined;
  }

  /** @param {string} url @returns {Promise<Uint8Array<ArrayBuffer>>} */
  load(url) {
    const { progress, problem } = this.#report.options(url);
    const content = load(url, {
      accept: this.#type,
      problem,
      progress: (amount) => {
        progress(amount);
        this.line.add(this.#report.received);
      },
    });
    content.catch(() => {}); // reported where it is used
    return content;
  }

  /** Begin to download the image. @param {RequestCache} cache @param {ImageWorth} worth */
  image(cache, worth) {
    const { progress } = this.#report.options(IMAGE);
    return openImage(
      IMAGE,
      cache,
      (amount) => {
        // Nobody is told of bytes that may not be fetched.
        const wasLikely = worth.isLikely;
        progress(wasLikely ? amount : { ...amount, total: 0 });
        worth.add(amount, this.#report.received);
        if (worth.isLikely && !wasLikely) progress(amount);
      },
      worth.signal,
      this.#type,
    );
  }

  /** Do without a file. @param {string} url */
  drop(url) {
    this.#report.drop(url);
  }

  /** @param {string[]} urls @returns {Files} */
  files(urls) {
    return new Map(urls.map((url) => [url, this.load(url)]));
  }
}

/** Whether the service worker keeps a file, perhaps of another version. @param {string} path from the page's folder: it is part of the key */
async function isKept(path) {
  try {
    return (await caches.match(path, { ignoreSearch: true })) !== undefined;
  } catch {
    return false; // storage is forbidden
  }
}
