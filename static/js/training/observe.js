/** What happens to elements, also in browsers without observers. */

/**
 * Call a function when an element's size may have changed.
 * @param {Element} element
 * @param {() => void} changed
 * @returns {() => void} ends it
 */
export function onResize(element, changed) {
  if (typeof ResizeObserver === "undefined") {
    addEventListener("resize", changed);
    return () => removeEventListener("resize", changed);
  }
  const observer = new ResizeObserver(changed);
  observer.observe(element);
  return () => observer.disconnect();
}

/**
 * Call a function when an element comes into view or leaves it; without an observer it is in view.
 * @param {Element} element
 * @param {(isVisible: boolean) => void} changed
 * @returns {() => void} ends it
 */
export function onVisible(element, changed) {
  if (typeof IntersectionObserver === "undefined") {
    changed(true);
    return () => {};
  }
  const observer = new IntersectionObserver(([entry]) => changed(entry.isIntersecting));
  observer.observe(element);
  return () => observer.disconnect();
}
