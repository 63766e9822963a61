/** Parts of the page that the sender of a link has hidden, so that a class sees only what a lesson needs. */

import { computed } from "../vendor/preact.js";
import { t } from "./locale.js";
import * as store from "./store.js";

/** The parts that can be hidden, by the names that links have for them. */
export const HIDEABLE = /** @type {const} */ (["gallery", "blocks", "output", "graph", "runs", "lab"]);

/** @typedef {typeof HIDEABLE[number]} Hideable */

/** The names of the hidden parts. Others, of a later version, are ignored. */
export const hidden = computed(() =>
  new Set((store.shared.value?.hidden ?? []).filter((name) => HIDEABLE.some((each) => each === name))));

/** Titles of the hidden parts, in their order. */
export const hiddenTitles = () => HIDEABLE.filter((name) => hidden.value.has(name)).map((name) => t().share.parts[name]);

/** Show all parts again. */
export function showAll() {
  if (store.shared.value) store.shared.value = { ...store.shared.value, hidden: [] };
}
