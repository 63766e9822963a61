/** The worker behind picture-reader.js. */

import { picturePixels } from "../pictures/picture-input.js";

self.onmessage = async ({ data: { blob, size } }) => {
  try {
    const pixels = await picturePixels(blob, size);
    self.postMessage({ pixels }, { transfer: [pixels.buffer] });
  } catch (problem) {
    self.postMessage({ problem: String(problem) });
  }
};
