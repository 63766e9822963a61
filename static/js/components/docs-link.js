import { html } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";
import { t } from "../locale.js";

/** The link to the documentation, which a small copy of the page does not have. @param {{class?: string}} props */
export const DocsLink = ({ class: name = "" }) =>
  document.documentElement.dataset.docs !== "none" &&
  html`<a class="link ${name}" href=${urlOf("/docs/")} target="_blank" rel="noopener" data-testid="docs-link">${t().header.docs}</a>`;
