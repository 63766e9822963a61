/** Reads pictures in a worker: one of 12 megapixels holds up its thread for 0.1 s. */

import { picturePixels } from "../pictures/picture-input.js";

/** @import { Size } from "../pictures/picture-input.js" */

export class PictureReader {
  /** @type {Worker | null} */
  #worker = new Worker(new URL("./picture-worker.js", import.meta.url), { type: "module" });

  /**
   * The pixels of a picture, as of `picturePixels`. One at a time.
   * @param {Blob} blob
   * @param {Size} size
   * @returns {Promise<Uint8Array>}
   * @throws {Error} it cannot be decoded
   */
  async read(blob, size) {
    const answer = this.#worker && (await this.#ask(this.#worker, { blob, size }));
    if (!answer) return await picturePixels(blob, size);
    if (answer.problem) throw new Error(answer.problem);
    return answer.pixels;
  }

  close() {
    this.#worker?.terminate();
    this.#worker = null;
  }

  /**
   * @param {Worker} worker
   * @param {{blob: Blob, size: Size}} question
   * @returns {Promise<any>} null if the worker does not work
   */
  #ask(worker, question) {
    return new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => {
        event.preventDefault();
        this.close();
        resolve(null);
      };
      worker.postMessage(question);
    });
  }
}
