/** Parts of the page that the sender of a link has hidden, so that a class sees only what a lesson needs. */

import { computed } from "../vendor/preact.js";
import * as store from "./store.js";

/** The parts that can be hidden, by the names that links have for them. */
export const HIDEABLE = /** @type {const} */ ({
  gallery: "Gallery", blocks: "Blocks", output: "Output", graph: "Graph", runs: "Runs", lab: "Lab",
});

/** @typedef {keyof typeof HIDEABLE} Hideable */

/** The names of the hidden parts. Others, of a later version, are ignored. */
export const hidden = computed(() =>
  new Set((store.shared.value?.hidden ?? []).filter((name) => Object.hasOwn(HIDEABLE, name))));

/** Titles of the hidden parts, in their order. */
export const hiddenTitles = () =>
  Object.entries(HIDEABLE).flatMap(([name, title]) => (hidden.value.has(name) ? [title] : []));

/** Show all parts again. */
export function showAll() {
  if (store.shared.value) store.shared.value = { ...store.shared.value, hidden: [] };
}
