/** Tokens as they are shown. */

import { t } from "./locale.js";

/** A token, in words if it is white space. @param {string} token */
export function visible(token) {
  /** @type {Record<string, string>} */
  const names = t().sample.tokens;
  return names[token] ?? token;
}

/** Tokens as a text: characters one after another, words with blanks between them. @param {string[]} tokens */
export const joined = (tokens) =>
  tokens.join(tokens.every((token) => [...token].length === 1) ? "" : " ");

/** A token as a mark of about its own width. @param {string} token */
export const marked = (token) => MARKS[token] ?? token;

/** @type {Record<string, string>} */
const MARKS = { " ": "·", "\n": "⏎", "\t": "⇥" };
