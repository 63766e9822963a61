/** The signature and the text of a name, as elements. */

import { fullName } from "./names.js";
import { parameterText } from "./signatures.js";

/** @import { Names, Parameter } from "./names.js" */

/**
 * @param {keyof HTMLElementTagNameMap} tag
 * @param {string} className
 * @param {...(Node | string)} content
 */
export function element(tag, className, ...content) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...content);
  return made;
}

/**
 * The signature in a line, with one parameter marked.
 * @param {Names} names
 * @param {string} name
 * @param {number} [current] the parameter to mark
 */
export function signatureElement(names, name, current = -1) {
  const entry = names.entry(name);
  const shown = element("code", "code-signature", fullName(name));
  if (!entry?.p) {
    if (entry?.r) shown.append(`: ${entry.r}`);
    return shown;
  }
  shown.append("(");
  entry.p.forEach((parameter, at) => {
    const text = parameterText(parameter);
    if (at) shown.append(", ");
    shown.append(at === current ? element("strong", "code-current", text) : text);
  });
  shown.append(")");
  if (entry.r && entry.r !== "None") shown.append(` → ${entry.r}`);
  return shown;
}

/** A docstring's text, without its marks for code. @param {string} text */
export const plain = (text) => text.replace(/`+/g, "");

/** What a parameter is. @param {Parameter} parameter */
export function parameterElement([name, , annotation, text]) {
  const line = element("p", "code-parameter", element("strong", "", name));
  if (annotation) line.append(` (${annotation})`);
  if (text) line.append(`: ${plain(text)}`);
  return line;
}

/**
 * Signature and first sentence.
 * @param {Names} names
 * @param {string} name
 */
export function explanation(names, name) {
  const entry = names.entry(name);
  return element(
    "div",
    "code-explanation",
    signatureElement(names, name),
    element("p", "code-sentence", plain(entry?.d ?? "")),
  );
}
