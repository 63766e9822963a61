/** Unpacks a file of images (pixels.js) in workers, while the page draws and listens. */

import { damaged } from "./downloads.js";
import { PARTS, headOf } from "./pixels.js";

/**
 * @param {string} url of the file
 * @param {Uint8Array<any>} file packed, in shared memory
 * @returns {Promise<Uint8Array<any>>} the IDX file, in shared memory
 * @throws {import("./downloads.js").LoadError} it is damaged
 */
export async function unpacked(url, file) {
  try {
    const { size, hash } = headOf(file);
    const into = new Uint8Array(new SharedArrayBuffer(size));
    const parts = Array.from({ length: PARTS }, (_, part) => part);
    const lanes = Math.min(PARTS, Math.max(1, navigator.hardwareConcurrency ?? 1));
    await Promise.all(Array.from({ length: lanes }, () => work(parts, file, into)));
    // Browsers take no shared memory for a digest.
    const actual = new Uint8Array(await crypto.subtle.digest("SHA-256", into.slice()));
    if (!hash.every((byte, index) => byte === actual[index]))
      throw new Error("its checksum is wrong");
    return into;
  } catch (error) {
    throw damaged(url, String(error), "damaged");
  }
}

/** Unpack the parts that are left, one after the other. @param {number[]} parts @param {Uint8Array<any>} file @param {Uint8Array<any>} into */
async function work(parts, file, into) {
  const worker = new Worker(new URL("./pixels-worker.js", import.meta.url), { type: "module" });
  try {
    for (let part = parts.shift(); part !== undefined; part = parts.shift())
      await new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => (data ? reject(new Error(data)) : resolve(data));
        worker.onerror = ({ message }) => reject(new Error(message || "its worker did not start"));
        worker.postMessage({ file, part, into });
      });
  } finally {
    worker.terminate();
  }
}
