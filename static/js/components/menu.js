import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "./icons.js";

/**
 * A button of the header and its menu. Escape and a press elsewhere close it.
 * @param {{id: string, title: string, about: string, icon: string, content: (props: {close: () => void}) => any, label?: string, isNamed?: boolean,
 *          onOpen?: () => void}} props
 *   `content`: a component, which may close the menu; `label`: for screen readers, if the title does not say enough; `isNamed`: the
 *   title is a name of the visitor's, which is cut if it is long
 */
export function Menu({
  id,
  title,
  about,
  icon,
  content: Content,
  label = title,
  isNamed = false,
  onOpen,
}) {
  const [isOpen, setOpen] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const button = useRef(/** @type {HTMLElement | null} */ (null));

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };

  useEffect(() => {
    if (!isOpen) return undefined;
    onOpen?.();
    const listeners = new AbortController();
    const { signal } = listeners;
    document.addEventListener(
      "pointerdown",
      ({ target }) => {
        if (!place.current?.contains(/** @type {Node} */ (target))) setOpen(false);
      },
      { signal },
    );
    document.addEventListener(
      "keydown",
      (event) => {
        if (event.key === "Escape") close();
      },
      { signal },
    );
    return () => listeners.abort();
  }, [isOpen]);

  return html`
    <div class="menu" ref=${place}>
      <button type="button" class=${`button quiet menu-button${isNamed ? " named-menu" : ""}`} aria-label=${label} data-testid=${id} aria-expanded=${isOpen} ref=${button}
        aria-controls=${`${id}-content`} title=${about} onClick=${() => setOpen(!isOpen)}>
        <${Icon} name=${icon} /><span>${title}</span>${isNamed && html`<${Icon} name="down" />`}
      </button>
      ${isOpen && html`<div class="menu-content" id=${`${id}-content`} role="group" aria-label=${label}><${Content} close=${close} /></div>`}
    </div>
  `;
}
