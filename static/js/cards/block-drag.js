import { useRef } from "../../vendor/preact.js";
import * as commands from "./block-commands.js";

/** @typedef {import("./block-commands.js").Position} Position */

/** How far the pointer moves before a press is a drag, in CSS pixels. */
const THRESHOLD = 4;

/**
 * Handlers for the handle of a card, which can be dragged to another place of its network with any
 * pointer. While it is dragged, the card at that place is marked by `data-drop`.
 * @param {Position} position
 */
export function useDrag(position) {
  const drag = useRef(
    /** @type {{y: number, cards: HTMLElement[], to: number, moved: boolean} | null} */ (null),
  );

  /** @param {PointerEvent} event */
  function onPointerDown(event) {
    if (event.button !== 0) return;
    const handle = /** @type {HTMLElement} */ (event.currentTarget);
    const list = handle.closest("ol");
    if (!list) return;
    const cards = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".block")]);
    drag.current = { y: event.clientY, cards, to: position.index, moved: false };
    handle.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  function onPointerMove(event) {
    const now = drag.current;
    if (!now || (!now.moved && Math.abs(event.clientY - now.y) < THRESHOLD)) return;
    now.moved = true;
    const above = now.cards.filter(
      (card, i) => i !== position.index && middle(card) < event.clientY,
    ).length;
    now.to = above;
    mark(now.cards, position.index, above);
  }

  /** @param {boolean} isDropped */
  const end = (isDropped) => () => {
    const now = drag.current;
    drag.current = null;
    if (!now) return;
    mark(now.cards, -1, -1);
    if (isDropped && now.moved && now.to !== position.index) commands.move(position, now.to);
  };

  return {
    onPointerDown,
    onPointerMove,
    onPointerUp: end(true),
    onPointerCancel: end(false),
    onLostPointerCapture: end(false),
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") end(false)();
    },
  };
}

/** @param {HTMLElement} card */
function middle(card) {
  const { top, height } = card.getBoundingClientRect();
  return top + height / 2;
}

/** @param {HTMLElement[]} cards @param {number} from @param {number} to */
function mark(cards, from, to) {
  cards.forEach((card, i) => {
    card.toggleAttribute("data-dragged", i === from);
    const isTarget = i === to && to !== from;
    if (isTarget) card.dataset.drop = to > from ? "after" : "before";
    else delete card.dataset.drop;
  });
}
