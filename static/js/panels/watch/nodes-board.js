import { html, useLayoutEffect, useRef, useState } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { onResize } from "../../training/observe.js";
import { neighboursOf } from "./nodes-model.js";
import { Painter } from "./nodes-painter.js";
import { nodeAfter } from "./nodes-sight.js";

/** @import { NodesContent } from "./nodes-painter.js" */

/** How far from a node a pointer may be, in pixels. */
const REACH = { mouse: 12, touch: 24, pen: 16 };
/** Movement up to which a press is a click. */
const CLICK_SLACK = 4;
const ZOOM = 1.35;

/**
 * The drawing, in which a visitor moves about and chooses nodes, by pointer, by touch or with keys.
 * @param {NodesContent & {label: string, isHeld: boolean, onChoose: (node: number, isHeld: boolean) => void}} props
 *   `isHeld`: the chosen node stays when the pointer leaves it
 */
export function NodesBoard({ label, isHeld, onChoose, ...picture }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const painter = useRef(/** @type {Painter | null} */ (null));
  const [isMoved, setMoved] = useState(false);
  const { graph, points, chosen } = picture;

  useLayoutEffect(() => {
    const element = /** @type {HTMLCanvasElement} */ (canvas.current);
    const made = (painter.current = new Painter(element, setMoved));
    const end = onResize(element, () => made.resized());
    // The page scrolls with the wheel, and zooms nothing but this with Ctrl.
    const onWheel = (/** @type {WheelEvent} */ event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      made.zoom(Math.exp(-event.deltaY / 400), { x: event.offsetX, y: event.offsetY });
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      element.removeEventListener("wheel", onWheel);
      end();
      made.end();
    };
  }, []);
  useLayoutEffect(() => painter.current?.show(picture), Object.values(picture));

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const made = /** @type {Painter} */ (painter.current);
    if (event.key === "Escape" && chosen >= 0) onChoose(-1, false);
    else if (event.key === "+" || event.key === "=") made.zoom(ZOOM);
    else if (event.key === "-") made.zoom(1 / ZOOM);
    else if (event.key === "0") made.fit();
    else {
      const next = nodeAfter(event.key, chosen, points, neighboursOf(graph, chosen));
      if (next === null) return;
      onChoose(next, true);
      made.reveal(next);
    }
    event.preventDefault();
  }

  const pointers = usePointers(painter, isHeld, chosen, onChoose);
  const words = t().nodes;
  return html`
    <div class="nodes-board" data-moved=${isMoved ? "" : undefined}>
      <canvas data-testid="nodes" ref=${canvas} role="application" tabindex="0" aria-label=${label} aria-describedby="nodes-keys"
        onKeyDown=${press} ...${pointers}></canvas>
      <p id="nodes-keys" class="visually-hidden">${words.keys}</p>
      <div class="nodes-zoom" role="group" aria-label=${words.zoom}>
        <button type="button" class="button small" data-testid="nodes-closer" aria-label=${words.closer} title=${words.closer} onClick=${() => painter.current?.zoom(ZOOM)}>+</button>
        <button type="button" class="button small" data-testid="nodes-farther" aria-label=${words.farther} title=${words.farther} onClick=${() => painter.current?.zoom(1 / ZOOM)}>−</button>
        <button type="button" class="button small" data-testid="nodes-whole" disabled=${!isMoved} onClick=${() => painter.current?.fit()}>${words.whole}</button>
      </div>
    </div>
  `;
}

/**
 * What pointers do: one that moves over a node chooses it, a click holds it, a drag moves the drawing, two zoom it.
 * @param {{current: Painter | null}} painter
 * @param {boolean} isHeld
 * @param {number} chosen
 * @param {(node: number, isHeld: boolean) => void} onChoose
 */
function usePointers(painter, isHeld, chosen, onChoose) {
  const pressed = useRef(/** @type {Map<number, {x: number, y: number}>} */ (new Map()));
  const moved = useRef(0);
  const at = (/** @type {PointerEvent} */ event) =>
    painter.current?.nodeAt(
      event.offsetX,
      event.offsetY,
      REACH[/** @type {keyof typeof REACH} */ (event.pointerType)] ?? REACH.mouse,
    ) ?? -1;
  return {
    onPointerDown: (/** @type {PointerEvent} */ event) => {
      if (pressed.current.size === 0) moved.current = 0;
      pressed.current.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    },
    onPointerMove: (/** @type {PointerEvent} */ event) => {
      const before = pressed.current.get(event.pointerId);
      if (!before) {
        const node = at(event);
        if (!isHeld && event.pointerType === "mouse" && node !== chosen) onChoose(node, false);
        return;
      }
      const now = { x: event.offsetX, y: event.offsetY };
      moved.current += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (moved.current <= CLICK_SLACK) return;
      /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
      pressed.current.set(event.pointerId, now);
      const other = [...pressed.current].find(([id]) => id !== event.pointerId)?.[1];
      if (!other) painter.current?.move(now.x - before.x, now.y - before.y);
      else {
        const distance = (/** @type {{x: number, y: number}} */ point) =>
          Math.hypot(point.x - other.x, point.y - other.y) || 1;
        const about = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
        painter.current?.zoom(distance(now) / distance(before), about);
      }
    },
    onPointerUp: (/** @type {PointerEvent} */ event) => {
      pressed.current.delete(event.pointerId);
      if (moved.current > CLICK_SLACK) return;
      const node = at(event);
      onChoose(node, node >= 0);
    },
    onPointerCancel: (/** @type {PointerEvent} */ event) => pressed.current.delete(event.pointerId),
    onPointerLeave: () => {
      if (!isHeld && chosen >= 0 && pressed.current.size === 0) onChoose(-1, false);
    },
  };
}
