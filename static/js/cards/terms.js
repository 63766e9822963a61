/** Words of Blocks that explain themselves where they stand: their definitions, and the one that is shown. */

import { html, signal, useEffect, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { titleOf } from "../blocks/field-values.js";
import { GlossaryLink } from "../components/docs-link.js";
import { t } from "../words/locale.js";

/** @import { Label } from "../blocks/catalogue.js" */

/** How long a word is pointed at, or its field has the focus, before it explains itself. */
const DELAY_MS = 400;
/** For the way of the pointer from the word to its definition. */
const LINGER_MS = 250;
const GAP = 6;

/** @typedef {{id: string, title: string, text: string}} Shown `id`: of the field */
/** @type {import("../../vendor/preact.js").Signal<Shown | null>} */
const shown = signal(null);
const timer = { id: 0 };

/** @param {Shown | null} next @param {number} [delay] */
function show(next, delay = 0) {
  clearTimeout(timer.id);
  if (delay === 0) shown.value = next;
  else timer.id = window.setTimeout(() => (shown.value = next), delay);
}

/** The id of a definition, for fields that are described by it. @param {string} id of the field */
export const termId = (id) => `${id}-term`;

/** The descriptions of a field: its problem, and its definition. @param {string} id @param {string} [wrong] */
export const describedBy = (id, wrong) => (wrong ? `${wrong} ${termId(id)}` : termId(id));

/** What a value of a menu means; "" if that is not known. @param {string} value such as `"relu"` */
export function valueTerm(value) {
  /** @type {Record<string, string>} */
  const values = t().blocks.terms.values;
  const plain = value.replace(/^["']|["']$/g, "");
  return Object.hasOwn(values, plain) ? values[plain] : "";
}

/** The definitions of a field and of its value. @param {Label} label @param {string} [value] @param {string} [title] of the value */
export function termOf(label, value, title) {
  const about = value === undefined ? "" : valueTerm(value);
  const { fields } = t().blocks.terms;
  return about
    ? `${fields[label]}\n${t().blocks.terms.value(title ?? titleOf(value ?? ""), about)}`
    : fields[label];
}

/**
 * Handlers of a row and of its label, which show the definition: a pointer over the label, a tap on it, and the keyboard's
 * focus in the field.
 * @param {string} id of the field @param {string} title @param {string} text
 */
export function useTerm(id, title, text) {
  const pointed = useRef(false);
  const here = { id, title, text };
  useEffect(() => {
    if (text && shown.peek()?.id === id) show(here);
  }, [text, title]);
  if (!text) return { row: {}, label: {} };
  const hide = (delay = 0) => {
    if (shown.peek()?.id === id) show(null, delay);
    else clearTimeout(timer.id);
  };
  return {
    row: {
      onPointerDown: () => (pointed.current = true),
      onFocusIn: () => {
        if (!pointed.current) show(here, DELAY_MS);
      },
      onFocusOut: () => {
        pointed.current = false;
        hide();
      },
    },
    label: {
      class: "term",
      onPointerEnter: (/** @type {PointerEvent} */ { pointerType }) => {
        if (pointerType === "mouse") show(here, DELAY_MS);
      },
      onPointerLeave: (/** @type {PointerEvent} */ { pointerType }) => {
        if (pointerType === "mouse") hide(LINGER_MS);
      },
      onClick: (/** @type {PointerEvent} */ event) => {
        if (event.pointerType !== "touch") return;
        event.preventDefault(); // neither the keyboard of the screen nor another value
        if (shown.peek()?.id === id) hide();
        else show(here);
      },
    },
  };
}

/** The definition of a word, for the fields that name it. @param {{id: string, text: string}} props `id`: of the field */
export const Definition = ({ id, text }) =>
  text && html`<span id=${termId(id)} hidden>${text}</span>`;

/** The definition that is shown, beside its field and above everything. */
export function TermTip() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const now = shown.value;

  useLayoutEffect(() => {
    const tip = place.current;
    const row = now && document.getElementById(now.id)?.closest(".block-field");
    if (!tip) return;
    if (!row) return tip.hidePopover?.();
    tip.showPopover?.();
    const { left, top, bottom } = row.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = tip;
    // What is wrong with the card stands below the field.
    const isFree = !row.closest(".block")?.querySelector(".block-problem, [aria-invalid=true]");
    const isBelow = top < GAP + height || (isFree && bottom + GAP + height < innerHeight);
    tip.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`;
    tip.style.top = `${isBelow ? bottom + GAP : Math.max(GAP, top - GAP - height)}px`;
  }, [now]);

  useEffect(() => {
    if (!now) return undefined;
    const row = document.getElementById(now.id)?.closest(".block-field");
    const away = (/** @type {Event} */ { target, type }) => {
      const isInside =
        target instanceof Element && (target.closest(".term-tip, .term") || row?.contains(target));
      if (type === "scroll" || !isInside) show(null);
    };
    const escape = (/** @type {KeyboardEvent} */ { key }) => {
      if (key === "Escape") show(null);
    };
    addEventListener("keydown", escape, true);
    addEventListener("pointerdown", away);
    addEventListener("change", away, true);
    addEventListener("scroll", away, true);
    return () => {
      removeEventListener("keydown", escape, true);
      removeEventListener("pointerdown", away);
      removeEventListener("change", away, true);
      removeEventListener("scroll", away, true);
    };
  }, [now]);

  useEffect(() => () => show(null), []);

  return html`<div ref=${place} class="term-tip" popover="manual" data-testid="term" aria-hidden="true"
    onPointerEnter=${() => clearTimeout(timer.id)} onPointerLeave=${() => show(null, LINGER_MS)}>
    ${now && html`<b>${now.title}</b><p>${now.text}</p><${GlossaryLink} tabindex=${-1} />`}
  </div>`;
}
