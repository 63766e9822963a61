/** Creates elements. */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [properties] `data` becomes the test id; names with a hyphen are attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "data") made.dataset.testid = value;
    else if (name.includes("-") || name === "role" || name === "for")
      made.setAttribute(name, value);
    else Object.assign(made, { [name]: value });
  }
  made.append(...children);
  return made;
}

/** A labelled button. @param {string} text @param {string} data @param {() => void} onclick */
export const button = (text, data, onclick) =>
  element("button", { type: "button", data, onclick }, text);
