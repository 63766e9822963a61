/**
 * Leave one element usable, as under a dialog: all beside it, and beside what it is in, gets neither
 * focus nor clicks.
 * @param {Element} element
 * @returns {() => void} gives the others back
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
