/** Parts of the page that the sender of a link has hidden, so that a class sees only what a lesson needs. */

import { computed } from "../../vendor/preact.js";
import { isEmbedded } from "./embedded.js";
import { t } from "../locale.js";
import * as store from "../store.js";

/** The parts that can be hidden, by the names that links have for them. */
export const HIDEABLE = /** @type {const} */ (["gallery", "blocks", "output", "inspect", "graph", "runs", "lab"]);

/** @typedef {typeof HIDEABLE[number]} Hideable */

/** The parts that came with a link. Others, of a later version, are ignored. */
const hiddenByLink = computed(() => HIDEABLE.filter((name) => store.shared.value?.hidden?.includes(name)));

/** The names of the hidden parts. A frame in another page shows one program. */
export const hidden = computed(() => /** @type {Set<string>} */ (new Set([...hiddenByLink.value, ...(isEmbedded ? ["gallery"] : [])])));

/** Titles of the parts that the link has hidden, in their order. */
export const hiddenTitles = () => hiddenByLink.value.map((name) => t().share.parts[name]);

/** Show all parts again. */
export function showAll() {
  if (store.shared.value) store.shared.value = { ...store.shared.value, hidden: [] };
}
