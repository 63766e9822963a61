/**
 * Make everything except one element inert, as a modal dialog does: nothing else can have the focus
 * or be clicked.
 * @param {Element} element
 * @returns {() => void} undoes it
 */
export function alone(element) {
  /** @type {HTMLElement[]} */
  const others = [];
  for (let inner = element; inner.parentElement; inner = inner.parentElement) {
    if (inner === document.body) break;
    for (const other of inner.parentElement.children) {
      if (other !== inner && other instanceof HTMLElement && !other.inert) others.push(other);
    }
  }
  for (const other of others) other.inert = true;
  return () => {
    for (const other of others) other.inert = false;
  };
}
