/** An image of Python's memory that is made here, for the next visit, where the server's would take too long to arrive. */

import { urlOf } from "../../engine/root.js";
import { effect } from "../../vendor/preact.js";
import { isPhone } from "../frame/layout.js";
import * as store from "../state/store.js";

const SCRIPT = urlOf("/static/engine/image-worker.js");
/** How long Python must have been up, and nothing been running: keeping the page comes first. */
const QUIET_MS = 8000;
/** A run that begins ends the work; so often it is begun again. */
const MOST_TRIES = 3;
/** Gigabytes that a device should have: a second Python and copies of its memory take 0.3 of them. */
const LEAST_MEMORY = 4;

/** Whether a second Python may run while nobody has asked for it. Browsers that do not say how much memory there is run on phones, too. */
export function hasMemoryForPython() {
  const { deviceMemory = isPhone.value ? 0 : LEAST_MEMORY } = /** @type {any} */ (navigator);
  return deviceMemory >= LEAST_MEMORY;
}

/** Whether an image is to be made here, once Python has started without one. */
export const canMakeImage = () => Boolean(navigator.serviceWorker) && hasMemoryForPython();

/** Make an image while nothing runs, if Python has started without one. */
export function makeOwnImage() {
  /** @type {Worker | undefined} */
  let worker;
  let timer = 0;
  let tries = 0;
  let isMade = false;
  const begin = async () => {
    tries += 1;
    const registration = await navigator.serviceWorker.getRegistration().catch(() => undefined);
    if (!registration?.active || worker || store.active.value) return;
    worker = new Worker(SCRIPT, { type: "module", name: "image" });
    worker.onerror = (event) => {
      event.preventDefault();
      end(event.message);
    };
    worker.onmessage = async ({ data }) => {
      end(data.problem);
      if (data.problem) return;
      isMade = true;
      const { active } = await navigator.serviceWorker.ready;
      active?.postMessage({ kind: "image", ...data }, [data.content]);
    };
    worker.postMessage("make");
  };
  /** @param {string} [problem] */
  const end = (problem) => {
    worker?.terminate();
    worker = undefined;
    if (problem) console.info(`No image of Python's memory was made here: ${problem}`);
  };
  effect(() => {
    const isQuiet = store.engine.value === "up" && !store.active.value;
    const isWanted = !store.pythonStart.value.isRestored && canMakeImage();
    clearTimeout(timer);
    if (!isQuiet) end();
    else if (isWanted && !isMade && !worker && tries < MOST_TRIES)
      timer = setTimeout(begin, QUIET_MS);
  });
}
