/** Work that waits until the page has nothing else to do. */

/** For browsers that do not say when that is, in milliseconds. */
const LATER_MS = 300;

/** @param {() => void} work @returns {() => void} a function that forgets it */
export function whenIdle(work) {
  if (!globalThis.requestIdleCallback) {
    const timer = setTimeout(work, LATER_MS);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(work);
  return () => cancelIdleCallback(handle);
}
