/** Modules that are imported once they have arrived: the browser would wait for ever for one that does not. */

import { LoadError, asLoadError } from "./downloads.js";

/** A module that has arrived can be imported in no time, unless something is wrong. */
const IMPORT_MS = 10_000;
const MOST_IMPORTS = 3;

/**
 * Download a module, and import it from the browser's cache. If that fails, the network may have
 * gone in between: the next download waits for it, and says so.
 * @param {string} url
 * @param {(url: string) => Promise<unknown>} download
 * @param {(url: string) => Promise<any>} [importing]
 * @returns {Promise<any>}
 * @throws {LoadError}
 */
export async function importModule(url, download, importing = (name) => import(name)) {
  for (let tries = 1; ; tries++) {
    // The browser may remember that a URL failed.
    const name = tries === 1 ? url : `${url}?try=${tries}`;
    await download(name);
    try {
      return await inTime(importing(name));
    } catch (error) {
      if (tries === MOST_IMPORTS) throw asLoadError(error, url);
    }
  }
}

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
