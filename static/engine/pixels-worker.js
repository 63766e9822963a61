/** Unpacks a part of a file of images (pixels.js) into shared memory. */

import { unpackPart } from "./pixels.js";

/** @typedef {{head: Uint8Array, part: number, code: Uint8Array, into: Uint8Array<any>}} Task the arguments of `unpackPart` */

self.addEventListener("message", (/** @type {MessageEvent<Task>} */ { data }) => {
  try {
    unpackPart(data.head, data.part, data.code, data.into);
    self.postMessage("");
  } catch (error) {
    self.postMessage(String(error));
  }
});
