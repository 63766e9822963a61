import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "./icons.js";

/**
 * A button of the header and what it unfolds. Escape and a press elsewhere fold it.
 * @param {{id: string, title: string, about: string, icon: string, content: () => any, onOpen?: () => void}} props
 *   `content`: a component
 */
export function Menu({ id, title, about, icon, content: Content, onOpen }) {
  const [isOpen, setOpen] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const button = useRef(/** @type {HTMLElement | null} */ (null));

  useEffect(() => {
    if (!isOpen) return undefined;
    onOpen?.();
    const listeners = new AbortController();
    const { signal } = listeners;
    document.addEventListener("pointerdown", ({ target }) => {
      if (!place.current?.contains(/** @type {Node} */ (target))) setOpen(false);
    }, { signal });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      button.current?.focus();
    }, { signal });
    return () => listeners.abort();
  }, [isOpen]);

  return html`
    <div class="menu" ref=${place}>
      <button type="button" class="button quiet menu-button" data-testid=${id} aria-expanded=${isOpen} ref=${button}
        aria-controls=${`${id}-content`} title=${about} onClick=${() => setOpen(!isOpen)}>
        <${Icon} name=${icon} /><span>${title}</span>
      </button>
      ${isOpen && html`<div class="menu-content" id=${`${id}-content`} role="group" aria-label=${title}><${Content} /></div>`}
    </div>
  `;
}
