/** Keeps the page for visits without a network, by its service worker, once all is quiet. */

import { effect } from "../../vendor/preact.js";
import { isNarrow } from "../../engine/image-worth.js";
import { urlOf } from "../../engine/root.js";
import * as store from "../state/store.js";

/** How long Python must have been up, and nothing been running. */
const QUIET_MS = 4000;

const IMAGE = "/image/python.bin";

/** Have this version of the page kept, as soon as it costs the visitor nothing. */
export function keepForLater() {
  const done = { timer: 0, isBegun: false, dataFiles: 0 };
  // Who comes back profits from the image of Python's memory, which is larger than all the rest.
  const hasComeBack = Boolean(navigator.serviceWorker?.controller);
  effect(() => {
    clearTimeout(done.timer);
    const files = store.dataFiles.value;
    if (done.isBegun && files.length === done.dataFiles) return;
    if (store.engine.value !== "up" || store.active.value) return;
    done.timer = setTimeout(() => {
      Object.assign(done, { isBegun: true, dataFiles: files.length });
      keepNow(isNarrow() || !hasComeBack ? files : [...files, IMAGE]);
    }, QUIET_MS);
  });
}

/**
 * Without a service worker, which a browser may forbid, the page works as long as there is a network.
 * @param {string[]} wanted files to fetch and keep besides the page's own; further ones are kept if the browser has them
 */
async function keepNow(wanted) {
  try {
    const workers = navigator.serviceWorker;
    if (!workers) return;
    await workers.register(urlOf("/service-worker.js"), { updateViaCache: "none" });
    const { active } = await workers.ready;
    active?.postMessage({ kind: "update", wanted });
  } catch (error) {
    console.info(`The page cannot be kept for visits without a network: ${error}`);
  }
}
