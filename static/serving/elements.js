// Elements with their attributes and children. Texts become text nodes, never markup.

/** @typedef {string | number | Node} Child */

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function element(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/**
 * The same for SVG.
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function shape(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  return filled(/** @type {SVGElement} */ (made), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} made
 * @param {Record<string, string | number>} attributes
 * @param {Child[]} children
 */
function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

/**
 * Return the element of an id, which the page has.
 * @template {typeof Element} T
 * @param {string} id
 * @param {T} kind
 * @returns {InstanceType<T>}
 */
export function part(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} '${id}'`);
  return /** @type {InstanceType<T>} */ (found);
}
