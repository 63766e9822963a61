/**
 * Makes an image of Python's memory from the files that the page has fetched, for visits to come, in
 * a worker of its own: it takes seconds. The page hands it to the service worker, which keeps it.
 */

import { makeImage } from "./image-making.js";
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

/** The scripts that make images: a bundle, or its sources. Others would make another image of the same files. */
const SCRIPTS = ["image-worker.js", "image-making.js", "image.js"].map((name) =>
  urlOf(`/static/engine/${name}`),
);

/**
 * A file as the browser has kept it for this page: nothing is fetched for an image.
 * @param {string} url
 * @returns {Promise<Response | undefined>}
 */
async function own(url) {
  const asked = fetch(url, { cache: "only-if-cached", mode: "same-origin" });
  const response = await asked.catch(() => undefined); // the browser rejects what it does not have
  return response?.ok ? response : undefined;
}

/**
 * The same, or as a service worker has kept it. That may be of another version, or of another page on
 * this host, which the service worker sees by its digest.
 * @param {string} url
 */
async function kept(url) {
  const response = (await own(url)) ?? (await caches.match(pathOf(url), { ignoreSearch: true }));
  if (!response) throw new Error(`the browser has not kept ${url}`);
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
  for (const url of SCRIPTS) {
    const script = await own(url);
    if (script) files.set(url, script.arrayBuffer().then((content) => new Uint8Array(content)));
  }
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
