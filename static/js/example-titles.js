/** Titles and descriptions of examples in the language of the page: programs have them in English. */

import { t } from "./locale.js";

/** @import { Example } from "./types.js" */

/** @param {Pick<Example, "id" | "title">} example */
export const titleOf = ({ id, title }) => t().examples[id]?.title ?? title;

/** @param {Pick<Example, "id" | "description">} example */
export const descriptionOf = ({ id, description }) => t().examples[id]?.description ?? description;
