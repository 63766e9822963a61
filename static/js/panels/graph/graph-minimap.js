import { html, useMemo, useRef } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { CORNERS, colourClass, freeCorner, isAllSeen, mapSize, outlines } from "./graph-outline.js";
import { MAP_MARGIN, within } from "./viewport.js";

/** The share of the visible part by which an arrow key moves. */
const KEY_STEP = 0.25;
/** The least side of the rectangle of the visible part, in pixels. */
const LEAST_MARK = 6;
const KEYS = /** @type {Record<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});

/**
 * A map of the drawing with a rectangle for the visible part, which moves the view. Shown while a part is out of sight.
 * @param {{drawing: import("./graph-view.js").Drawing, colourOf: import("./graph-items.js").ColourOf,
 *          sight: import("../../../vendor/preact.js").Signal<import("./viewport.js").Sight | null>,
 *          view: {current: import("./viewport.js").Viewport | null}}} props
 */
export function Minimap({ drawing, colourOf, sight, view }) {
  const { picture, layout } = drawing;
  const paths = useMemo(
    () => outlines(picture.items, layout.boxes, (item) => colourClass(item, colourOf)),
    [drawing, colourOf],
  );
  /** From the pressed pointer to the centre of the mark, while it is dragged, in units of the drawing. */
  const grip = useRef(/** @type {{x: number, y: number} | null} */ (null));
  const corner = useRef(/** @type {import("./graph-outline.js").Corner} */ (CORNERS[0]));
  const boxes = useMemo(() => picture.items.map(({ id }) => layout.boxes[id]), [drawing]);
  const seen = sight.value;
  const size = seen && !isAllSeen(layout, seen) ? mapSize(layout, seen) : null;
  if (!seen || !size) return null;
  const room = { width: size.width + 2 * MAP_MARGIN, height: size.height + 2 * MAP_MARGIN };
  if (!grip.current) corner.current = freeCorner(boxes, seen, room, corner.current); // not away from a pointer
  const centre = { x: seen.x + seen.width / 2, y: seen.y + seen.height / 2 };
  const per = { x: layout.width / size.width, y: layout.height / size.height };

  /** @param {{x: number, y: number}} point */
  const look = (point) => view.current?.centre(within(point, layout, seen));

  /** The place of a pointer in the drawing. @param {PointerEvent} event */
  function placeOf(event) {
    const rect = /** @type {SVGSVGElement} */ (event.currentTarget).getBoundingClientRect();
    return {
      x: ((event.clientX - rect.left) / rect.width) * layout.width,
      y: ((event.clientY - rect.top) / rect.height) * layout.height,
    };
  }

  /** @param {PointerEvent} event */
  function onPointerDown(event) {
    const place = placeOf(event);
    const offset = { x: centre.x - place.x, y: centre.y - place.y };
    const isOnMark =
      Math.abs(offset.x) <= Math.max(seen?.width ?? 0, LEAST_MARK * per.x) / 2 &&
      Math.abs(offset.y) <= Math.max(seen?.height ?? 0, LEAST_MARK * per.y) / 2;
    grip.current = isOnMark ? offset : { x: 0, y: 0 };
    /** @type {SVGSVGElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
    if (!isOnMark) look(place);
  }

  /** @param {PointerEvent} event */
  function onPointerMove(event) {
    if (!grip.current) return;
    const { x, y } = placeOf(event);
    look({ x: x + grip.current.x, y: y + grip.current.y });
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const step = KEYS[event.key];
    if (!step || !seen) return;
    event.preventDefault();
    look({
      x: centre.x + step[0] * KEY_STEP * seen.width,
      y: centre.y + step[1] * KEY_STEP * seen.height,
    });
  }

  const letGo = () => (grip.current = null);
  return html`
    <svg class="graph-minimap" data-testid="graph-minimap" data-no-picture="" data-corner=${corner.current} tabindex="0" role="application"
      aria-label=${t().graph.minimap} width=${size.width} height=${size.height}
      viewBox=${`0 0 ${layout.width} ${layout.height}`} preserveAspectRatio="none"
      onPointerDown=${onPointerDown} onPointerMove=${onPointerMove} onPointerUp=${letGo} onPointerCancel=${letGo}
      onKeyDown=${onKeyDown}>
      ${[...paths].map(([colour, path]) => html`<path key=${colour} class="graph-outline" data-colour=${colour} d=${path} />`)}
      <${Mark} seen=${seen} layout=${layout} per=${per} />
    </svg>
  `;
}

/**
 * The rectangle of the visible part, within the map.
 * @param {{seen: import("./viewport.js").Sight, layout: {width: number, height: number}, per: {x: number, y: number}}} props
 *   `per`: units of the drawing per pixel of the map
 */
function Mark({ seen, layout, per }) {
  const [x, width] = span(seen.x, seen.width, layout.width, LEAST_MARK * per.x);
  const [y, height] = span(seen.y, seen.height, layout.height, LEAST_MARK * per.y);
  return html`<rect class="graph-sight" data-testid="graph-sight" x=${x} y=${y} width=${width} height=${height} />`;
}

/** The start and length of [start, start + length] within [0, whole], at least `least` long.
 * @param {number} start @param {number} length @param {number} whole @param {number} least */
function span(start, length, whole, least) {
  const from = Math.max(0, Math.min(start, whole - least));
  return [from, Math.max(least, Math.min(whole, start + length) - from)];
}
