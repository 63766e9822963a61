/** Titles and descriptions of examples in the language of the page: programs have them in English. */

import { t } from "../words/locale.js";
import { titleIn } from "./program-title.js";

/** @import { Example } from "../state/types.js" */

/** @param {Pick<Example, "id" | "title">} example */
export const titleOf = ({ id, title }) => t().examples[id]?.title ?? title;

/** Whether another program stands in place of an example, by its docstring. @param {Example} example @param {string | undefined} code of the visitor, if there is any */
export const isReplaced = ({ source, title, versions = [] }, code) =>
  Boolean(source) &&
  code !== undefined &&
  ![title, ...versions.map(titleIn)].includes(titleIn(code));

/** The title of a program that began as an example; "" if it stands in place of it and has none. @param {Example} example @param {string | undefined} code */
export const titleOfProgram = (example, code) =>
  isReplaced(example, code) ? titleIn(code ?? "") : titleOf(example);

/** The title in the list of programs, where the example can still be found. @param {Example} example @param {string | undefined} code */
export function titleInList(example, code) {
  const title = titleOfProgram(example, code);
  return isReplaced(example, code)
    ? t().header.inPlaceOf(title || t().runs.untitled, titleOf(example))
    : title;
}

/** @param {Pick<Example, "id" | "description">} example */
export const descriptionOf = ({ id, description }) => t().examples[id]?.description ?? description;
