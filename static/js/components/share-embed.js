import { html, useState } from "../../vendor/preact.js";
import { makeLink } from "../sharing.js";
import * as store from "../store.js";

/** @param {string} text */
const attribute = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The HTML that shows a program in a page of another site. @param {string} address @param {string} title */
export const snippetOf = (address, title) =>
  `<iframe src="${attribute(address)}" title="${attribute(title)}" width="100%" height="640" `
  + 'allow="cross-origin-isolated; fullscreen" loading="lazy"></iframe>';

/**
 * Copies the embed snippet, unless the server forbids embedding.
 * @param {{hidden: string[], disabled: boolean, say: (text: string) => void}} props
 */
export function CopySnippet({ hidden, disabled, say }) {
  const [shown, setShown] = useState("");

  async function copy() {
    let snippet = "";
    try {
      const answer = await fetch("/embed", { method: "HEAD" }).catch(() => null); // offline it cannot be known
      if (answer?.status === 404) return say("This server does not let other sites embed programs. Share the link instead.");
      const address = await makeLink(hidden, "/embed");
      snippet = snippetOf(address, `${store.example.value?.title ?? "A program"}, in playgrad`);
      await navigator.clipboard.writeText(snippet);
      setShown("");
      say("The snippet is copied: HTML for a page of yours. The program is in it, and runs in the frame where the browser "
        + "permits that; elsewhere the frame shows it, with a button that opens playgrad.");
    } catch (failure) {
      if (!snippet) return say(/** @type {Error} */ (failure).message);
      setShown(snippet);
      say("The browser does not allow copying here. Select the snippet, and press Ctrl+C.");
    }
  }

  return html`<div class="share-row"><button type="button" class="button small" data-testid="share-embed" disabled=${disabled}
    onClick=${copy}>Copy embed snippet</button></div>
    ${shown && html`<div class="share-row"><textarea class="share-link" rows="4" readonly aria-label="Embed snippet" data-testid="share-snippet"
      value=${shown} onFocus=${(/** @type {any} */ event) => event.target.select()}></textarea></div>`}`;
}
