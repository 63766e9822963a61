/**
 * The page's end of data-files.js: downloads data sets, each once, for every Python worker, and passes
 * on the visitor's own.
 */

import { LATER_LIBRARY, ONNX, STATE, areImages, isCode, isPackage, isYours } from "./data-files.js";
import { load } from "./downloads.js";
import { typeOfData } from "./image-worth.js";
import { delay } from "./load-report.js";
import { isPacked } from "./pixels.js";
import { urlOf } from "./root.js";
import { Unpacking } from "./unpacked.js";

/** @import { Amount, LoadError } from "./downloads.js" */
/** @import { DataRequest, Delay } from "./messages.js" */

/** The training images of MNIST are 47 million bytes. */
const MOST_BYTES = 256 << 20;

/** How long a program waits for a server that cannot be reached, in milliseconds. */
const PATIENCE_MS = 60_000;
/** How often to ask a server that answers with an error: it may be starting. */
const MOST_REFUSALS = 3;

/**
 * @typedef {{set: string, received: number, total: number}} Awaited the files of a data set that arrive, in bytes; `total`
 *   is 0 while it is not known
 *
 * @typedef {object} Listener
 * @property {(path: string, bytes: Uint8Array) => void} arrived is called with each file, in shared memory unless it is code
 * @property {(awaited: Awaited | null) => void} [awaited] is called with the data that a program waits for, and null when it continues
 * @property {(problem: Delay | null) => void} problem is called with the problem of a download, or null when all is well
 * @property {(path: string) => Promise<Uint8Array>} yours reads a file of the visitor
 */

export class DataStore {
  /** @type {Map<string, Uint8Array>} */
  #contents = new Map();
  /** Contents of which each Python worker gets a copy of its own. @type {Map<string, Uint8Array>} */
  #code = new Map();
  /** Downloads in progress. @type {Map<string, Promise<Uint8Array>>} */
  #underway = new Map();
  /**
   * Answers that a Python worker has not fetched yet, by worker and path. (Not by their words: shared memory
   * that arrives in two messages is two objects.)
   * @type {WeakMap<object, Map<string, Uint8Array>>}
   */
  #answers = new WeakMap();
  /** @type {Map<string, Delay>} */
  #problems = new Map();
  /** How much has arrived of each file, until no file of its data set is under way. @type {Map<string, Amount>} */
  #amounts = new Map();
  /** Files that programs wait for. @type {string[]} */
  #awaited = [];
  #listener;

  /** @param {Listener} listener */
  constructor(listener) {
    this.#listener = listener;
  }

  /** What has arrived, in shared memory, by path; without code. */
  get contents() {
    return this.#contents;
  }

  /** The bytes that have arrived. */
  get bytes() {
    return [...this.#contents.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Copies of the code that has arrived. @param {Iterable<string>} paths */
  codeOf(paths) {
    /** @type {Map<string, Uint8Array>} */
    const copies = new Map();
    for (const path of paths) {
      const content = this.#code.get(path);
      if (content) copies.set(path, content.slice());
    }
    return copies;
  }

  /** @param {string} path */
  #arrived(path) {
    return this.#contents.get(path) ?? this.#code.get(path);
  }

  /** Begin to download files that a program will read. @param {string[]} paths */
  expect(paths) {
    // A program that reads the file is told why it is not available.
    for (const path of paths) this.#get(path, true).catch(() => {});
  }

  /** Wait until a file has arrived. @param {string} path @throws {LoadError} it is not available */
  async obtain(path) {
    await this.#get(path, false);
  }

  /**
   * Answer a Python worker that waits for a file.
   * @param {DataRequest} request
   * @param {object} worker that asks; several may ask for the same file at the same time
   */
  async serve({ path, answer, into, beside = [] }, worker) {
    const words = new Int32Array(answer);
    const answers = this.#answers.get(worker) ?? new Map();
    this.#answers.set(worker, answers);
    if (into) {
      const content = answers.get(path);
      answers.delete(path);
      if (content?.length !== into.byteLength) return reply(words, STATE.lost);
      new Uint8Array(into).set(content);
      return reply(words, STATE.copied);
    }
    this.expect(beside.filter((each) => !isYours(each)));
    let state = STATE.file;
    /** @type {Uint8Array} */
    let content;
    try {
      content = await (isYours(path) ? this.#listener.yours(path) : this.#await(path));
    } catch (error) {
      state = STATE.failure;
      content = new TextEncoder().encode(/** @type {Error} */ (error).message);
    }
    answers.set(path, content);
    words[1] = content.length;
    reply(words, state);
  }

  /** Get a file that a program waits for. @param {string} path */
  async #await(path) {
    this.#awaited.push(path);
    if (!this.#arrived(path)) this.#tell();
    try {
      return await this.#get(path, false);
    } finally {
      this.#awaited.splice(this.#awaited.indexOf(path), 1);
      this.#tell();
    }
  }

  /** Report the data that a program waits for: files of one data set arrive together. */
  #tell() {
    const path = this.#awaited.at(-1);
    if (path === undefined) return this.#listener.awaited?.(null);
    const set = setOf(path);
    const amounts = [...this.#amounts].flatMap(([each, amount]) =>
      setOf(each) === set ? [amount] : [],
    );
    const isKnown = amounts.length > 0 && amounts.every(({ total }) => total > 0);
    this.#listener.awaited?.({
      set,
      received: amounts.reduce((sum, each) => sum + each.received, 0),
      total: isKnown ? amounts.reduce((sum, each) => sum + each.total, 0) : 0,
    });
  }

  /** @param {string} path @param {Amount} amount */
  #count(path, amount) {
    this.#amounts.set(path, amount);
    if (this.#awaited.some((each) => setOf(each) === setOf(path))) this.#tell();
  }

  /** @param {string} path @param {boolean} isQuiet nobody waits for it yet @returns {Promise<Uint8Array>} */
  async #get(path, isQuiet) {
    const content = this.#arrived(path);
    if (content) return content;
    let download = this.#underway.get(path);
    if (!download) {
      download = this.#download(path).finally(() => {
        this.#underway.delete(path);
        const isGoingOn = [...this.#underway.keys()].some((each) => setOf(each) === setOf(path));
        if (!isGoingOn)
          for (const each of this.#amounts.keys())
            if (setOf(each) === setOf(path)) this.#amounts.delete(each);
      });
      this.#underway.set(path, download);
      if (isQuiet) download.catch(() => {});
    }
    return await download;
  }

  /** @param {string} path */
  async #download(path) {
    const end = performance.now() + PATIENCE_MS;
    const url = urlOf(path);
    const unpacking = new Unpacking(url);
    try {
      const arrived = await load(url, {
        accept: typeOfData(areImages(path)),
        shared: !isCode(path),
        most: MOST_BYTES,
        progress: (amount) => this.#count(path, amount),
        arriving: (bytes, isFirst) => areImages(path) && unpacking.arrived(bytes, isFirst),
        patient: (error, tries) => isWorthAnotherTry(error, tries) && performance.now() < end,
        problem: (error, pause) => this.#report(path, error, pause),
      });
      const content = areImages(path) && isPacked(arrived) ? await unpacking.end(arrived) : arrived;
      (isCode(path) ? this.#code : this.#contents).set(path, content);
      this.#listener.arrived(path, content);
      return content;
    } finally {
      unpacking.cancel();
      this.#report(path, null, 0);
    }
  }

  /** @param {string} path @param {LoadError | null} error @param {number} pause milliseconds */
  #report(path, error, pause) {
    if (!error && !this.#problems.has(path)) return;
    if (error) this.#problems.set(path, { ...delay(error, pause), isMissing: false });
    else this.#problems.delete(path);
    const [problem = null] = this.#problems.values();
    this.#listener.problem(problem);
  }
}

/** The name of the data set of a file: "mnist" for "/data/mnist/train-labels". @param {string} path */
function setOf(path) {
  if (path === ONNX) return "onnx";
  if (path === LATER_LIBRARY) return "library";
  return isPackage(path) ? "packages" : (path.split("/")[2] ?? path);
}

/** @param {LoadError} error @param {number} tries */
function isWorthAnotherTry({ status }, tries) {
  if (status >= 400 && status < 500) return false;
  return status === 0 || tries < MOST_REFUSALS;
}

/** @param {Int32Array} words @param {number} state */
function reply(words, state) {
  Atomics.store(words, 0, state);
  Atomics.notify(words, 0);
}
