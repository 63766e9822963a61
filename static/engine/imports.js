/** Modules that are imported once they have arrived: the browser would wait for ever for one that does not. */

import { LoadError, asLoadError } from "./downloads.js";

/** A module that has arrived can be imported in no time, unless something is wrong. */
const IMPORT_MS = 10_000;
const MOST_IMPORTS = 3;
/** How browsers say that a module did not arrive: Chromium and Firefox, then Safari. */
const NOT_ARRIVED = /dynamically imported module|module script failed/;

/**
 * Download a module, and import it from the browser's cache. If that fails, the network may have
 * gone in between: the next download waits for it, and says so. Offline, the service worker has both.
 * @param {string} url
 * @param {(url: string) => Promise<unknown>} download
 * @param {(url: string) => Promise<any>} [importing]
 * @returns {Promise<any>}
 * @throws {LoadError} the module does not arrive
 * @throws {Error} it fails when it is run
 */
export async function importModule(url, download, importing = (name) => import(name)) {
  for (let tries = 1; ; tries++) {
    await download(url);
    try {
      // The browser may remember that a URL failed. With another fragment it is the same file.
      return await inTime(importing(tries === 1 ? url : `${url}#${tries}`));
    } catch (error) {
      if (!hasNotArrived(error)) throw new Error(`${url}: ${error}`, { cause: error });
      if (tries === MOST_IMPORTS) throw asLoadError(error, url);
    }
  }
}

/** @param {unknown} error */
const hasNotArrived = (error) =>
  error instanceof LoadError || (error instanceof TypeError && NOT_ARRIVED.test(error.message));

/**
 * @template T
 * @param {Promise<T>} step
 * @returns {Promise<T>}
 */
async function inTime(step) {
  let timer = 0;
  /** @type {Promise<never>} */
  const overdue = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new LoadError("a module was not imported in time")), IMPORT_MS);
  });
  try {
    return await Promise.race([step, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
