import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { GROUPS } from "../blocks/catalogue.js";
import { Icon } from "../components/icons.js";
import { t } from "../words/locale.js";

/**
 * A button that opens the menu of layers.
 * @param {{label: string, text?: string, onChoose: (kind: string, given: string) => void}} props
 *   `text`: shown on the button
 */
export function AddBlock({ label, text, onChoose }) {
  const [open, setOpen] = useState(false);
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  /** @param {FocusEvent} event */
  function onFocusOut({ currentTarget, relatedTarget }) {
    const isOutside =
      relatedTarget instanceof Node &&
      !(/** @type {Node} */ (currentTarget).contains(relatedTarget));
    if (isOutside) setOpen(false);
  }
  return html`<div class="block-add" data-open=${open} onFocusOut=${onFocusOut}>
    <button type="button" ref=${button} data-testid="add-block" class=${text ? "button small" : "block-plus"}
      aria-label=${label} title=${label} aria-haspopup="menu" aria-expanded=${open}
      onClick=${() => setOpen(!open)}><${Icon} name="plus" />${text}</button>
    ${
      open &&
      html`<${Menu} onClose=${close} onChoose=${(
        /** @type {string} */ kind,
        /** @type {string} */ given,
      ) => {
        setOpen(false);
        onChoose(kind, given);
      }} />`
    }
  </div>`;
}

/** @param {{onClose: () => void, onChoose: (kind: string, given: string) => void}} props */
function Menu({ onClose, onChoose }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const items = () => [...(place.current?.querySelectorAll("button") ?? [])];

  useLayoutEffect(() => {
    items()[0]?.focus({ preventScroll: true });
    place.current?.scrollIntoView({ block: "nearest" });
  }, []);

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const all = items();
    const here = all.findIndex((item) => item === document.activeElement);
    const last = all.length - 1;
    const starting = all.findIndex((item, i) => i > here && startsWith(item, event.key));
    const to =
      {
        ArrowDown: here === last ? 0 : here + 1,
        ArrowUp: here <= 0 ? last : here - 1,
        Home: 0,
        End: last,
      }[event.key] ??
      (event.key.length === 1 && event.key !== " " ? firstOf(all, starting, event.key) : undefined);
    if (event.key === "Escape") onClose();
    else if (to === undefined) return;
    else all[to]?.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  return html`<div ref=${place} class="block-menu" role="menu" aria-label=${t().layers.title} onKeyDown=${onKeyDown}>
    ${GROUPS.map(
      ({
        name,
        entries,
      }) => html`<div key=${name} role="group" aria-label=${t().layers.groups[name]}>
      <p class="block-group" aria-hidden="true">${t().layers.groups[name]}</p>
      ${entries.map(
        ({ kind, given }) => html`<button key=${kind} type="button" role="menuitem" tabindex="-1"
        data-kind=${kind} title=${t().layers.about[kind]} onClick=${() => onChoose(kind, given)}>${kind}</button>`,
      )}
    </div>`,
    )}
  </div>`;
}

/** @param {HTMLElement} item @param {string} key */
const startsWith = (item, key) =>
  (item.dataset.kind ?? "").toLowerCase().startsWith(key.toLowerCase());

/** @param {HTMLElement[]} items @param {number} next @param {string} key */
function firstOf(items, next, key) {
  const found = next >= 0 ? next : items.findIndex((item) => startsWith(item, key));
  return found >= 0 ? found : undefined;
}
