/** What the gallery says of each example, beside its title: static/gallery/examples.json. */

import { signal } from "../../vendor/preact.js";
import { load } from "../../engine/downloads.js";
import { urlOf } from "../../engine/root.js";

/** The kinds of examples, in the order of their groups. */
export const KINDS = /** @type {const} */ ([
  "points",
  "images",
  "text",
  "graphs",
  "games",
  "devices",
  "inside",
]);

/**
 * @typedef {typeof KINDS[number]} Kind
 * @typedef {{kind: Kind, sentence: Record<import("../words/locale.js").Language, string>, seconds: number}} Facts
 *   `seconds`: of the program, on one core of a processor
 */

/** By id of the example. */
export const facts = signal(/** @type {Record<string, Facts>} */ ({}));

/** Load them once. @throws {import("../../engine/downloads.js").LoadError} after a few tries */
export async function loadFacts() {
  if (Object.keys(facts.value).length > 0) return;
  const content = await load(urlOf("/static/gallery/examples.json"), {
    patient: (_, tries) => tries < 3,
  });
  facts.value = JSON.parse(new TextDecoder().decode(content));
}
