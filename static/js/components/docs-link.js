import { html } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";
import { language, t } from "../words/locale.js";

/** Where the documentation begins: most of it is in English. */
const BEGINNINGS = { en: "/docs/", "zh-Hans": "/docs/zh-hans/first-steps.html" };

const GLOSSARY = "/docs/glossary.html#networks-and-training";

/** A link into the documentation, which a small copy of the page does not have. @param {{path: string, text: string, class?: string, testid?: string, tabindex?: number}} props */
const Link = ({ path, text, class: name = "", testid, tabindex }) =>
  document.documentElement.dataset.docs !== "none" &&
  html`<a class=${`link ${name}`} href=${urlOf(path)} target="_blank" rel="noopener" data-testid=${testid} tabindex=${tabindex}>${text}</a>`;

/** @param {{class?: string}} props */
export const DocsLink = (props) =>
  html`<${Link} path=${BEGINNINGS[language.value]} text=${t().header.docs} testid="docs-link" ...${props} />`;

/** What is known of real GPUs. @param {{text: string}} props */
export const GpuLink = (props) => html`<${Link} path="/docs/gpu.html" ...${props} />`;

/** @param {{tabindex?: number}} props */
export const GlossaryLink = (props) =>
  html`<${Link} path=${GLOSSARY} text=${t().blocks.terms.glossary} ...${props} />`;
