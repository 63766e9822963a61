/** Tokens as they are shown. */

import { t } from "./locale.js";

/** A token, in words if it is white space. @param {string} token */
export function visible(token) {
  /** @type {Record<string, string>} */
  const names = t().sample.tokens;
  return names[token] ?? token;
}

/** A token as a mark of about its own width. @param {string} token */
export const marked = (token) => MARKS[token] ?? token;

/** Tokens in a line: characters side by side, words apart. @param {string[]} tokens */
export const inLine = (tokens) => tokens.map(marked).join(tokens.every(({ length }) => length === 1) ? "" : " ");

/** @type {Record<string, string>} */
const MARKS = { " ": "·", "\n": "⏎", "\t": "⇥" };
