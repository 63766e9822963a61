/** The worker behind umap.js: it computes one layout. */

import { layOut } from "./umap-layout.js";

/** The shortest time between two reports of progress. */
const REPORT_MS = 80;

self.onmessage = async ({ data }) => {
  let reported = performance.now();
  try {
    // Imported here, so that a library that cannot be loaded is an answer too.
    const library = new URL("../../../vendor/umap.js", import.meta.url).href;
    const { UMAP } = /** @type {typeof import("umap-js")} */ (await import(library));
    const points = layOut(UMAP, data, (part) => {
      if (performance.now() - reported < REPORT_MS) return;
      reported = performance.now();
      self.postMessage({ part });
    });
    self.postMessage({ points });
  } catch (problem) {
    self.postMessage({ problem: String(problem) });
  }
};
