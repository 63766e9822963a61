/** Replaces modules in the browser's cache, where they may be damaged. */

const IMPORTS = /\b(?:from|import)\s*"(\.{1,2}\/[^"]+)"/g;
const PATIENCE_MS = 10_000;

/**
 * Fetch a module and all that it imports past the browser's cache. A file that was damaged on its way
 * may be there with the mark of the right one, and the browser would use it again.
 * @param {URL} url
 * @returns {Promise<void>} when all have arrived, or cannot be fetched now
 */
export async function refetchModule(url) {
  /** @type {Set<string>} */
  const seen = new Set();
  /** @param {string} each @returns {Promise<void>} */
  const visit = async (each) => {
    if (seen.has(each)) return;
    seen.add(each);
    const response = await fetch(each, {
      cache: "reload",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const imported = [...(await response.text()).matchAll(IMPORTS)].map(
      ([, path]) => new URL(path, each).href,
    );
    await Promise.all(imported.map(visit));
  };
  await visit(url.href).catch(() => {}); // the next import of the module reports the error
}
