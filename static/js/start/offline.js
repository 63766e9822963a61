/** Keeps the page for visits without a network, by its service worker, once all is quiet. */

import { effect } from "../../vendor/preact.js";
import { isNarrow } from "../../engine/image-worth.js";
import { LATER_LIBRARY } from "../../engine/data-files.js";
import { urlOf } from "../../engine/root.js";
import { canMakeImage } from "./own-image.js";
import * as store from "../state/store.js";

/** How long Python must have been up, and nothing been running. */
const QUIET_MS = 4000;

const IMAGE = "/image/python.bin";

/** Have this version of the page kept, as soon as it costs the visitor nothing. */
export function keepForLater() {
  const done = { timer: 0, isBegun: false, dataFiles: 0 };
  const hasComeBack = isKept();
  effect(() => {
    clearTimeout(done.timer);
    const files = store.dataFiles.value;
    if (done.isBegun && files.length === done.dataFiles) return;
    if (store.engine.value !== "up" || store.active.value) return;
    done.timer = setTimeout(async () => {
      Object.assign(done, { isBegun: true, dataFiles: files.length });
      keepNow([...files, ...beyond(await hasComeBack)]);
    }, QUIET_MS);
  });
}

/** Whether a version of the page is kept, by an earlier visit. On a static host the service worker alone does not tell. */
async function isKept() {
  try {
    return Boolean(navigator.serviceWorker?.controller && (await caches.match("/kept/current")));
  } catch {
    return false; // storage is forbidden
  }
}

/** Files that no program has needed yet, for whom they are worth it. @param {boolean} hasComeBack */
function beyond(hasComeBack) {
  const { isRestored, isQuick } = store.pythonStart.peek();
  /** @type {string[]} */
  const files = [];
  if (isNarrow()) return files;
  if (hasComeBack || isQuick) files.push(LATER_LIBRARY);
  // Who comes back profits from the image of Python's memory, which is larger than all the rest.
  if (hasComeBack && (isRestored || !canMakeImage())) files.push(IMAGE);
  return files;
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
