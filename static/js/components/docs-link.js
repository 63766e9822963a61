import { html } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";
import { language, t } from "../locale.js";

/** Where the documentation begins: most of it is in English. */
const BEGINNINGS = { en: "/docs/", "zh-Hans": "/docs/zh-hans/first-steps.html" };

/** The link to the documentation, which a small copy of the page does not have. @param {{class?: string}} props */
export const DocsLink = ({ class: name = "" }) =>
  document.documentElement.dataset.docs !== "none" &&
  html`<a class="link ${name}" href=${urlOf(BEGINNINGS[language.value])} target="_blank" rel="noopener" data-testid="docs-link">${t().header.docs}</a>`;
