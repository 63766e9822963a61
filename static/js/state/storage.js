/** Small values that the browser keeps between visits, or for one tab, if it allows that. */

import { isEmbedded } from "../sharing/embedded.js";

const PREFIX = "playgrad.";

/** @param {string} key @returns {string | null} */
export const recall = (key) => read(() => localStorage, key);

/** @param {string} key @param {string | null} value null removes it */
export const remember = (key, value) => write(() => localStorage, key, value);

/** @param {string} key @returns {string | null} */
export const recallInTab = (key) => read(() => sessionStorage, key);

/** @param {string} key @param {string | null} value null removes it */
export const rememberInTab = (key, value) => write(() => sessionStorage, key, value);

/** The keys that begin with `start`. @param {string} start */
export function recalledKeys(start) {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX + start));
    return keys.map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/** @param {() => Storage} storage access may be forbidden @param {string} key */
function read(storage, key) {
  try {
    return storage().getItem(PREFIX + key);
  } catch {
    return null;
  }
}

/** @param {() => Storage} storage @param {string} key @param {string | null} value */
function write(storage, key, value) {
  if (isEmbedded) return;
  try {
    if (value === null) storage().removeItem(PREFIX + key);
    else storage().setItem(PREFIX + key, value);
  } catch {
    // Full or forbidden: the current visit does not depend on it.
  }
}
