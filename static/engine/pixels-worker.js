/** Unpacks a part of a file of images (pixels.js) into shared memory. */

import { unpackPart } from "./pixels.js";

/** @typedef {{file: Uint8Array<any>, part: number, into: Uint8Array<any>}} Task */

self.addEventListener("message", (/** @type {MessageEvent<Task>} */ { data }) => {
  try {
    unpackPart(data.file, data.part, data.into);
    self.postMessage("");
  } catch (error) {
    self.postMessage(String(error));
  }
});
