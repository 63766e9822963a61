/** Loads the editor's knowledge of playgrad, once, after the page has opened. */

import { signal } from "../../vendor/preact.js";
import { load } from "../../engine/downloads.js";
import { urlOf } from "../../engine/root.js";
import { Names } from "./names.js";
import { Translator } from "./translator.js";

/**
 * The names of playgrad and of other libraries, and null until they have arrived.
 * @type {import("../../vendor/preact.js").Signal<{names: Names, translator: Translator} | null>}
 */
export const library = signal(null);

/** Wait for the page before loading: names are small, but everyone waits for Python. */
const PAUSE_MS = 1500;

/** @type {{promise: Promise<void> | null}} */
const loading = { promise: null };

const arrival = { announce() {} };
/** Resolves when the names have arrived, on anyone's request. */
export const arrived = new Promise((resolve) => {
  arrival.announce = () => resolve(null);
});

/** Load the names, unless they have been loaded. Failed downloads are tried again without a word. */
export function loadLibrary() {
  loading.promise ??= load(urlOf("/names.json")).then((content) => {
    const file = JSON.parse(new TextDecoder().decode(content));
    const names = new Names(file.names);
    library.value = { names, translator: new Translator(file.bridge, names) };
    arrival.announce();
  });
  return loading.promise;
}

/** Load the names when the page has nothing more urgent to do. */
export function loadLibrarySoon() {
  setTimeout(loadLibrary, PAUSE_MS);
}
