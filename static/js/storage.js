/** What the browser keeps between visits; a browser that forbids it just forgets. */

const PREFIX = "playgrad.";

/** @param {string} key @returns {string | null} */
export function recall(key) {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string | null} value null removes it */
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
  } catch {
    // Full or forbidden: nothing that the user is doing now depends on it.
  }
}
