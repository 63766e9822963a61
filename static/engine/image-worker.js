/**
 * Makes an image of Python's memory from the files that the page has fetched, for visits to come, in
 * a worker of its own: it takes seconds. The page hands it to the service worker, which keeps it.
 */

import { SCRIPTS, makeImage } from "./image-making.js";
import {
  BUNDLE,
  LOCK,
  PLACES,
  RUNTIME,
  SITE,
  importPyodide,
  loaded,
  wheelIn,
} from "./pyodide-files.js";
import { urlOf } from "./root.js";
import { filesIn } from "./stored-archive.js";

/**
 * @typedef {{content: ArrayBuffer, sha256: string, of: Record<string, string>} | {problem: string}} Made
 *   `of`: the SHA-256, in hex, of the files that the image was made from and by, by path
 */

/**
 * A file as the browser has kept it for this page: nothing is fetched for an image. What a service
 * worker has kept besides may be of another version, or of another page on this host, which the page's
 * own sees by its digest.
 * @param {string} url
 */
async function kept(url) {
  const own = fetch(url, { cache: "only-if-cached", mode: "same-origin" });
  const response =
    (await own.catch(() => undefined)) ?? // the browser rejects what it does not have
    (await caches.match(pathOf(url), { ignoreSearch: true }));
  if (!response?.ok) throw new Error(`the browser has not kept ${url}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** From the page's folder. @param {string} url */
const pathOf = (url) => url.slice(urlOf("/").length - 1);

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @returns {Promise<Made>} */
async function make() {
  /** @type {import("./pyodide-files.js").Files} */
  const files = new Map();
  const get = (/** @type {string} */ url) => {
    const content = files.get(url) ?? kept(url);
    content.catch(() => {}); // reported where it is used
    files.set(url, content);
    return content;
  };
  RUNTIME.forEach(get);
  const library = await importPyodide(get);
  const archives = await Promise.all([wheelIn(await get(LOCK)), BUNDLE].map(get));
  const members = archives.flatMap(filesIn);
  const table = members.map(([name, { length }]) => [`${SITE}/${name}`, length]);
  const bytes = new Uint8Array(await new Blob(members.map(([, content]) => content)).arrayBuffer());
  /** @type {Uint8Array<ArrayBuffer>} */
  let image = bytes;
  await loaded(async () => {
    image = await makeImage(library, PLACES, /** @type {any} */ (table), bytes);
  }, files);
  // Other scripts would make another image of the same files.
  [import.meta.url, ...SCRIPTS].forEach(get);
  const of = await Promise.all(
    [...files].map(async ([url, content]) => [pathOf(url), await sha256(await content)]),
  );
  return { content: image.buffer, sha256: await sha256(image), of: Object.fromEntries(of) };
}

self.addEventListener("message", async () => {
  /** @type {Made} */
  const made = await make().catch((error) => ({ problem: String(error) }));
  self.postMessage(made, { transfer: "content" in made ? [made.content] : [] });
});
