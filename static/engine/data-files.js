/**
 * Files of data sets, Python packages, and parts of the libraries that few programs need. The page
 * downloads them (data-store.js), because Python's worker sleeps while it waits for one; here is
 * Python's end.
 *
 * A file travels in shared memory. The page cannot send a message to a worker that sleeps, so it
 * writes the length of its answer into two shared words, and then the answer itself into memory of
 * that length. The words: [0] one of STATE, [1] the length in bytes.
 */

import { pyodideURL } from "../vendor/versions.js";

/** @import { DataRequest } from "./messages.js" */

export const STATE = { waiting: 0, file: 1, failure: 2, copied: 3, lost: 4 };
const WORDS = 2;
/** How often to look for a stop. */
const LOOK_MS = 100;

/** The part of the library that reads and writes ONNX files. */
export const ONNX = "/static/vendor/onnx-messages.zip";

/** The part of Python's standard library that few programs import. */
export const LATER_LIBRARY = `${pyodideURL}python_stdlib_later.zip`;

/** The folder of the Python packages that programs import. */
const PACKAGES = "/packages/";

/** @param {string} path */
export const isPackage = (path) => path.startsWith(PACKAGES);

/** Whether a file has Python code: a program that could change it would run in the next ones. @param {string} path */
export const isCode = (path) => path === ONNX || path === LATER_LIBRARY || isPackage(path);

/** Parts of a program, with the files that they need. @type {[part: string, files: string[]][]} */
const NEEDED_BY = [
  [".onnx", [ONNX]],
  ...["mnist", "fashion_mnist"].map(
    (name) =>
      /** @type {[string, string[]]} */ ([
        `data.${name}(`,
        ["train-images", "train-labels", "test-images", "test-labels"].map(
          (part) => `/data/${name}/${part}`,
        ),
      ]),
  ),
];

/** The files of images, which a server may have packed (pixels.js). @param {string} path */
export const areImages = (path) => path.startsWith("/data/") && path.endsWith("-images");

/** The page has the files below this path itself, and they may change: they are asked for at each use. */
export const YOURS = "/data/yours/";

/** @param {string} path */
export const isYours = (path) => path.startsWith(YOURS);

/** @param {string} program @returns {string[]} the files that it will probably read */
export function filesReadBy(program) {
  return NEEDED_BY.flatMap(([part, files]) => (program.includes(part) ? files : []));
}

export class DataFiles {
  /** Contents in shared memory. @type {Map<string, Uint8Array>} */
  #contents = new Map();
  #ask;

  /** @param {(request: DataRequest) => void} ask sends a request to the page */
  constructor(ask) {
    this.#ask = ask;
  }

  /** Take over files that the page has. @param {Map<string, Uint8Array>} files */
  add(files) {
    for (const [path, bytes] of files) this.#contents.set(path, bytes);
  }

  /**
   * Read a file of this server or of the visitor, blocking until it has arrived.
   * @param {string} path for instance "/data/mnist/train-labels"
   * @param {() => boolean} stopRequested
   * @param {string[]} [beside] files that are needed next: the page begins to download them
   * @returns {Uint8Array}
   * @throws {Error} the page cannot get it, or a stop was requested
   */
  read(path, stopRequested, beside = []) {
    const content = this.#contents.get(path) ?? this.#fetch(path, stopRequested, beside);
    if (!isYours(path)) this.#contents.set(path, content);
    return content;
  }

  /** @param {string} path @param {() => boolean} stopRequested @param {string[]} beside */
  #fetch(path, stopRequested, beside) {
    const words = new Int32Array(new SharedArrayBuffer(4 * WORDS));
    const answer = /** @type {SharedArrayBuffer} */ (words.buffer);

    /** @param {number} state that ends */
    function sleepThrough(state) {
      while (Atomics.load(words, 0) === state) {
        if (stopRequested()) throw new Error("the download was stopped");
        Atomics.wait(words, 0, state, LOOK_MS);
      }
      return Atomics.load(words, 0);
    }

    this.#ask({ kind: "data_file", path, answer, beside });
    const state = sleepThrough(STATE.waiting);
    const into = new SharedArrayBuffer(words[1]);
    this.#ask({ kind: "data_file", path, answer, into });
    if (sleepThrough(state) !== STATE.copied) throw new Error(`${path} was lost on its way`);
    const content = new Uint8Array(into);
    if (state === STATE.file) return content;
    throw new Error(new TextDecoder().decode(content.slice())); // a decoder takes no shared memory
  }
}
