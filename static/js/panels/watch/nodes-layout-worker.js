/** The worker behind nodes-layout.js: it computes one layout. */

import { MANY, settled } from "./nodes-forces.js";

/** The shortest time between two pictures of the layout on its way; of many nodes, which take long to draw. */
const REPORT_MS = 60;
const REPORT_OF_MANY_MS = 300;

self.onmessage = async ({ data }) => {
  const rest = data.nodes > MANY ? REPORT_OF_MANY_MS : REPORT_MS;
  let reported = performance.now();
  try {
    // Imported here, so that a library that cannot be loaded is an answer too.
    const library = new URL("../../../vendor/d3-force.js", import.meta.url).href;
    const forces = /** @type {typeof import("../../../vendor/d3-force.js")} */ (
      await import(library)
    );
    const points = settled(forces, data, (current) => {
      if (performance.now() - reported < rest) return;
      reported = performance.now();
      self.postMessage({ points: current.slice(), isSettled: false });
    });
    self.postMessage({ points, isSettled: true });
  } catch (problem) {
    self.postMessage({ problem: String(problem) });
  }
};
