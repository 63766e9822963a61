/** The drawer in which visitors bring data of their own: whether it is open, and its first page. */

import { signal } from "../../vendor/preact.js";

/**
 * @typedef {{path: string, blob: Blob}} Item a file; `path` with its folders
 * @typedef {"choose" | "table" | "images" | "camera" | "points"} Start
 * @typedef {{start: Start, items: Promise<Item[]> | null}} Opening `items`: what was dropped on the page
 */

/** Null while it is closed. */
export const opening = signal(/** @type {Opening | null} */ (null));

/** @param {Start} [start] @param {Promise<Item[]>} [items] */
export function openDrawer(start = "choose", items) {
  opening.value = { start, items: items ?? null };
}

export function closeDrawer() {
  opening.value = null;
}
