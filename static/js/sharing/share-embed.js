import { html, useState } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { EMBED } from "./embedded.js";
import { makeLink } from "./sharing.js";

/** @param {string} text */
const attribute = (text) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");

/** The HTML that shows a program in a page of another site. @param {string} address @param {string} title */
export const snippetOf = (address, title) =>
  `<iframe src="${attribute(address)}" title="${attribute(title)}" width="100%" height="640" ` +
  'allow="cross-origin-isolated; fullscreen" loading="lazy"></iframe>';

/**
 * Copies the embed snippet, unless the server forbids embedding.
 * @param {{hidden: string[], disabled: boolean, say: (text: string) => void}} props
 */
export function CopySnippet({ hidden, disabled, say }) {
  const [shown, setShown] = useState("");

  async function copy() {
    let snippet = "";
    try {
      const answer = await fetch(EMBED).catch(() => null); // offline it cannot be known
      if (answer?.status === 404) return say(t().embed.isForbidden);
      const address = await makeLink(hidden, EMBED);
      snippet = snippetOf(
        address,
        t().embed.frame(store.example.value?.title ?? t().embed.aProgram),
      );
      await navigator.clipboard.writeText(snippet);
      setShown("");
      say(t().embed.copied);
    } catch (failure) {
      if (!snippet) return say(/** @type {Error} */ (failure).message);
      setShown(snippet);
      say(t().embed.copyByHand);
    }
  }

  return html`<div class="share-row"><button type="button" class="button small" data-testid="share-embed" disabled=${disabled}
    onClick=${copy}>${t().embed.copy}</button></div>
    ${
      shown &&
      html`<div class="share-row"><textarea class="share-link" rows="4" readonly aria-label=${t().embed.snippet} data-testid="share-snippet"
      value=${shown} onFocus=${(/** @type {any} */ event) => event.target.select()}></textarea></div>`
    }`;
}
