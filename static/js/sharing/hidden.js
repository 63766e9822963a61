/** Parts of the page that the sender of a link has hidden, so that a class sees only what a lesson needs. */

import { computed } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { panels } from "../panels/panels.js";
import * as store from "../state/store.js";
import { isWatching } from "../watching/watched.js";
import { isEmbedded } from "./embedded.js";

/** Parts that are no panels. */
const OTHERS = /** @type {const} */ (["gallery", "blocks", "output"]);

/** The parts that can be hidden: their names in links, and their titles in the language of the page. */
export const hideable = () => [
  ...OTHERS.map((name) => ({ name: /** @type {string} */ (name), title: t().share.parts[name] })),
  ...panels()
    .filter(({ isFixed }) => !isFixed)
    .map(({ name, title }) => ({ name, title: title() })),
];

/** The parts that came with a link. Others, of a later version, are ignored. */
const hiddenByLink = computed(() =>
  hideable().filter(({ name }) => store.shared.value?.hidden?.includes(name)),
);

/** What needs the model is of no use for a training elsewhere. */
const ABSENT = isWatching
  ? ["gallery", "blocks", "graph", "inspect", "shrink"]
  : isEmbedded
    ? ["gallery"]
    : [];

/** The names of the hidden parts. A frame in another page shows one program. */
export const hidden = computed(
  () => new Set([...hiddenByLink.value.map(({ name }) => name), ...ABSENT]),
);

/** Titles of the parts that the link has hidden, in their order. */
export const hiddenTitles = () => hiddenByLink.value.map(({ title }) => title);

/** Show all parts again. */
export function showAll() {
  if (store.shared.value) store.shared.value = { ...store.shared.value, hidden: [] };
}
