import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { panels } from "../panels/panels.js";
import { hidden } from "../sharing/hidden.js";
import * as store from "../state/store.js";
import { Icon } from "./icons.js";
import { MainButton } from "./transport.js";
import { openPanel } from "./views.js";

/**
 * @typedef {{name: string, title: string, icon: any, inBar?: boolean, isOpen: boolean, open: () => void}} Item
 *   `inBar`: it has a place of its own in the bar; the others are behind "More"
 */

/** The network and the panels, in their order. @returns {Item[]} */
function items() {
  return [
    {
      name: "build",
      title: t().panels.build,
      icon: html`<${Icon} name="code" />`,
      inBar: true,
      isOpen: store.side.value === "build",
      open: () => (store.side.value = "build"),
    },
    ...panels()
      .filter(({ name }) => !hidden.value.has(name))
      .map(({ name, title, outline, inBar }) => ({
        name,
        inBar,
        title: title(),
        icon: html`<${Icon} outline=${outline} />`,
        isOpen: store.side.value === "panels" && openPanel().name === name,
        open: () => {
          store.side.value = "panels";
          store.view.value = name;
        },
      })),
  ];
}

/** The bar below the page of a phone: the network, the panels, and Run between them. */
export function PhoneBar() {
  const all = items();
  const first = all.filter(({ inBar }) => inBar);
  const others = all.filter((each) => !first.includes(each));
  // Nobody has to unfold a single one.
  const shown = others.length === 1 ? all : first;
  const more = others.length > 1 ? others : [];
  const half = Math.ceil((shown.length + Math.min(more.length, 1)) / 2);
  return html`
    <nav class="phone-bar" aria-label=${t().panels.parts}>
      ${shown.slice(0, half).map((item) => html`<${Tab} key=${item.name} ...${item} />`)}
      <${MainButton} />
      ${shown.slice(half).map((item) => html`<${Tab} key=${item.name} ...${item} />`)}
      ${more.length > 0 && html`<${More} items=${more} />`}
    </nav>
  `;
}

/** @param {Item} props */
function Tab({ name, title, icon, isOpen, open }) {
  return html`<button type="button" class="phone-tab" data-testid=${`tab-${name}`} aria-current=${isOpen ? "page" : undefined}
    onClick=${open}>${icon}${title}</button>`;
}

/**
 * A button that unfolds the other panels. Escape, a press elsewhere, and leaving it fold it.
 * @param {{items: Item[]}} props
 */
function More({ items: others }) {
  const [isUnfolded, setUnfolded] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  const current = others.find(({ isOpen }) => isOpen);

  const tabs = () => [
    .../** @type {HTMLElement} */ (place.current).querySelectorAll(".phone-sheet button"),
  ];

  useEffect(() => {
    if (!isUnfolded) return undefined;
    /** @type {HTMLElement} */ (tabs()[0]).focus();
    const fold = (/** @type {PointerEvent} */ { target }) => {
      if (!place.current?.contains(/** @type {Node} */ (target))) setUnfolded(false);
    };
    document.addEventListener("pointerdown", fold);
    return () => document.removeEventListener("pointerdown", fold);
  }, [isUnfolded]);

  function close() {
    setUnfolded(false);
    button.current?.focus();
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    if (!isUnfolded) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
      return;
    }
    const all = tabs();
    const here = all.indexOf(/** @type {Element} */ (document.activeElement));
    const to = /** @type {Record<string, number>} */ ({
      ArrowUp: here - 1,
      ArrowDown: here + 1,
      Home: 0,
      End: all.length - 1,
    })[event.key];
    if (to === undefined) return;
    event.preventDefault();
    /** @type {HTMLElement} */ (all[(to + all.length) % all.length]).focus();
  }

  /** @param {FocusEvent} event */
  function onFocusOut({ relatedTarget }) {
    if (relatedTarget && !place.current?.contains(/** @type {Node} */ (relatedTarget)))
      setUnfolded(false);
  }

  return html`
    <div class="phone-more" ref=${place} onKeyDown=${onKeyDown} onFocusOut=${onFocusOut}>
      <button type="button" class="phone-tab" data-testid="tab-more" ref=${button} aria-expanded=${isUnfolded}
        aria-controls="phone-sheet" aria-current=${current ? "page" : undefined} aria-label=${t().panels.moreOf(current?.title ?? "")}
        onClick=${() => setUnfolded(!isUnfolded)}>${current?.icon ?? html`<${Icon} name="more" />`}${current?.title ?? t().panels.more}</button>
      <div class="phone-sheet" id="phone-sheet" role="group" aria-label=${t().panels.moreOf("")} hidden=${!isUnfolded}>
        ${others.map(
          (item) =>
            html`<${Tab} key=${item.name} ...${item} open=${() => {
              item.open();
              close();
            }} />`,
        )}
      </div>
    </div>
  `;
}
