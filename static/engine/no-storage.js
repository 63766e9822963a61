/**
 * Keeps programs from what the browser stores for the page: a program that came with a link could
 * otherwise change the page that is kept for later visits, or read the visitor's projects.
 */

/** Give up the browser's storage, for as long as this worker lives. */
export function giveUpStorage() {
  for (const name of ["caches", "indexedDB"]) remove(self, name);
  for (const name of ["storage", "serviceWorker", "storageBuckets"]) remove(navigator, name);
}

/** Remove a property, and whatever else has its name. @param {object | null} owner @param {string} name */
function remove(owner, name) {
  for (; owner; owner = Object.getPrototypeOf(owner)) Reflect.deleteProperty(owner, name);
}
