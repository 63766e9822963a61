/** Reasons why Python cannot show something of a node, in the language of the page. */

import { t } from "../../words/locale.js";

/** @param {import("../../../engine/messages.js").Unavailable} problem */
export function reasonOf({ code, values }) {
  const sentences = /** @type {Record<string, (values: any) => string>} */ (t().nodeTabs.problems);
  return Object.hasOwn(sentences, code) ? sentences[code](values) : code;
}
