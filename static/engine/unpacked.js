/** Unpacks a file of images (pixels.js) in workers while it arrives, and while the page draws and listens. */

import { damaged } from "./downloads.js";
import { HEAD, PARTS, headOf, isPacked, partsOf } from "./pixels.js";

/** @typedef {{part: number, code: Uint8Array<ArrayBuffer>}} Task */

export class Unpacking {
  #url;
  /** The head of the file, once it has arrived. @type {Uint8Array | undefined} */
  #head;
  /** Where the codes are that have not arrived. @type {[from: number, to: number][]} */
  #awaited = [];
  /** The IDX file. @type {Uint8Array<any>} */
  #into = new Uint8Array();
  /** @type {Task[]} */
  #tasks = [];
  /** @type {Promise<void>[]} */
  #lanes = [];
  /** @type {Set<Worker>} */
  #workers = new Set();

  /** @param {string} url of the file */
  constructor(url) {
    this.#url = url;
  }

  /**
   * Unpack what can be unpacked.
   * @param {Uint8Array<any>} bytes all that has arrived of the file, which need not be one of images
   * @param {boolean} isFirst whether it begins to arrive, once more perhaps
   */
  arrived(bytes, isFirst) {
    if (isFirst) this.cancel();
    if (!this.#head) {
      if (bytes.length < HEAD || !isPacked(bytes)) return;
      this.#head = bytes.slice(0, HEAD);
      this.#awaited = partsOf(this.#head);
      try {
        this.#into = new Uint8Array(new SharedArrayBuffer(headOf(this.#head).size));
      } catch {
        this.#awaited = []; // too large, which is said at the end
      }
    }
    while (this.#awaited.length > 0 && this.#awaited[0][1] <= bytes.length) {
      const part = PARTS - this.#awaited.length;
      const [[from, to]] = this.#awaited.splice(0, 1);
      this.#tasks.push({ part, code: bytes.slice(from, to) });
      this.#work();
    }
  }

  /**
   * Wait until all is unpacked, after the last byte has arrived.
   * @param {Uint8Array<any>} bytes the file, one of images
   * @returns {Promise<Uint8Array<any>>} the IDX file, in shared memory
   * @throws {import("./downloads.js").LoadError} it is damaged
   */
  async end(bytes) {
    try {
      const { hash } = headOf(bytes);
      this.arrived(bytes, false);
      if (this.#awaited.length > 0) throw new Error("a file of packed images is cut");
      await Promise.all(this.#lanes);
      // Browsers take no shared memory for a digest.
      const actual = new Uint8Array(await crypto.subtle.digest("SHA-256", this.#into.slice()));
      if (!hash.every((byte, index) => byte === actual[index]))
        throw new Error("its checksum is wrong");
      return this.#into;
    } catch (error) {
      throw damaged(this.#url, String(error), "damaged");
    } finally {
      this.cancel();
    }
  }

  /** Unpack no more, and forget what has arrived. */
  cancel() {
    for (const worker of this.#workers) worker.terminate();
    this.#workers.clear();
    this.#head = undefined;
    this.#awaited = [];
    this.#tasks = [];
    this.#lanes = [];
  }

  /** Have one more worker take tasks, if there is a core for it. */
  #work() {
    if (this.#workers.size >= Math.max(1, navigator.hardwareConcurrency ?? 1)) return;
    const lane = this.#lane();
    lane.catch(() => {}); // reported at the end
    this.#lanes.push(lane);
  }

  /** Unpack the tasks that are left, one after the other. */
  async #lane() {
    const worker = new Worker(new URL("./pixels-worker.js", import.meta.url), { type: "module" });
    this.#workers.add(worker);
    const { head, into } = { head: this.#head, into: this.#into };
    try {
      for (let task = this.#tasks.shift(); task; task = this.#tasks.shift()) {
        const { part, code } = task;
        await new Promise((resolve, reject) => {
          worker.onmessage = ({ data }) => (data ? reject(new Error(data)) : resolve(data));
          worker.onerror = ({ message }) =>
            reject(new Error(message || "its worker did not start"));
          worker.postMessage({ head, part, code, into }, [code.buffer]);
        });
      }
    } finally {
      worker.terminate();
      this.#workers.delete(worker);
    }
  }
}
