/** Panning and zooming of an SVG group by pointer, touch, wheel and method calls. */

const CLOSEST = 3;
const CLICK_SLACK = 4;
/** Pixels between the map of the drawing and the edges of the view. */
export const MAP_MARGIN = 10;
/** Pixels between a box that is shown and its surroundings. */
const SHOW_MARGIN = 12;

/**
 * @typedef {{x: number, y: number}} Point
 * @typedef {import("./graph-layout.js").Box} Box
 * @typedef {{x: number, y: number, width: number, height: number, scale: number}} Sight
 *   what is in sight, in units of the drawing; `x` and `y`: its top left corner
 */

export class Viewport {
  x = 0;
  y = 0;
  scale = 1;
  #svg;
  #content;
  #onMove;
  #farthest = 0.05;
  /** @type {Map<number, {x: number, y: number}>} pressed pointers, by id */
  #pointers = new Map();
  #moved = 0;
  #listeners = new AbortController();
  /** What a resize is to keep in view; null once the visitor has panned or zoomed. @type {"beginning" | "whole" | null} */
  framing = "beginning";
  /** Whether the wheel zooms without Ctrl; otherwise it scrolls the page. */
  wheelZooms = false;

  /**
   * @param {SVGSVGElement} svg
   * @param {SVGGElement} content the group to move
   * @param {(sight: Sight) => void} onMove called after each move
   */
  constructor(svg, content, onMove) {
    this.#svg = svg;
    this.#content = content;
    this.#onMove = onMove;
    const { signal } = this.#listeners;
    svg.addEventListener("pointerdown", (event) => this.#down(event), { signal });
    svg.addEventListener("pointermove", (event) => this.#move(event), { signal });
    for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) {
      svg.addEventListener(kind, (event) => this.#pointers.delete(event.pointerId), { signal });
    }
    svg.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false });
    // The end of a drag is not a click on the element under it.
    svg.addEventListener(
      "click",
      (event) => {
        if (this.#moved > CLICK_SLACK) event.stopPropagation();
      },
      { signal, capture: true },
    );
  }

  destroy() {
    this.#listeners.abort();
  }

  /**
   * Show the whole drawing, or a part of it if it does not fit.
   * @param {{width: number, height: number}} size
   * @param {number} [smallest] the smallest scale
   * @param {Point} [about] the part to show; by default the top left corner
   */
  fit(size, smallest = 0, about = { x: 0, y: 0 }) {
    const room = this.#room();
    if (!size.width || !size.height || !room.width) return;
    const whole = Math.min(1.1, room.width / size.width, room.height / size.height);
    this.scale = Math.max(whole, smallest);
    this.#farthest = Math.min(0.2, whole / 2);
    this.centre(
      within(about, size, { width: room.width / this.scale, height: room.height / this.scale }),
    );
    this.framing = smallest ? "beginning" : "whole";
  }

  /** @param {number} factor @param {Point} [about] in pixels of the view */
  zoom(factor, about) {
    const room = this.#room();
    const { x, y } = about ?? { x: room.width / 2, y: room.height / 2 };
    const scale = Math.min(CLOSEST, Math.max(this.#farthest, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.framing = null;
    this.#apply();
  }

  /** Move so that a box that moved from `before` to `now` stays in place on the screen. @param {Box} before @param {Box} now */
  keep(before, now) {
    this.x += (before.x - now.x) * this.scale;
    this.y += (before.y - now.y) * this.scale;
    this.#apply();
  }

  /**
   * Move as little as needed to show a box; zoom in on it if the drawing is smaller than `smallest`.
   * @param {Box} box
   * @param {number} [smallest] the smallest scale
   */
  show(box, smallest = 0) {
    if (this.scale < smallest) {
      this.scale = smallest;
      this.centre(box);
    }
    const { x, y, width, height } = box;
    const room = this.#room();
    const half = {
      width: (width / 2) * this.scale + SHOW_MARGIN,
      height: (height / 2) * this.scale + SHOW_MARGIN,
    };
    this.x += nudge(this.x + x * this.scale, half.width, room.width);
    this.y += nudge(this.y + y * this.scale, half.height, room.height);
    const corner = this.#minimap();
    const [right, bottom] = [
      this.x + x * this.scale + half.width,
      this.y + y * this.scale + half.height,
    ];
    if (corner && right > corner.x && bottom > corner.y) {
      // Above the map, or left of it where there is too little room.
      if (corner.y >= 2 * half.height) this.y -= bottom - corner.y;
      else this.x -= right - corner.x;
    }
    this.#apply();
  }

  /** Move a point of the drawing to the centre of the view. @param {Point} point */
  centre({ x, y }) {
    const room = this.#room();
    this.x = room.width / 2 - x * this.scale;
    this.y = room.height / 2 - y * this.scale;
    this.framing = null;
    this.#apply();
  }

  /** Pixels of the screen per pixel of the view: style sheets zoom the page on a very wide screen. */
  get #unit() {
    return this.#svg.currentCSSZoom ?? 1;
  }

  #room() {
    const { width, height } = this.#svg.getBoundingClientRect();
    return { width: width / this.#unit, height: height / this.#unit };
  }

  /** The top left corner of the map where it stands if operations are in all corners. @returns {Point | null} */
  #minimap() {
    const map = this.#svg
      .closest(".graph-stage")
      ?.querySelector(".graph-minimap")
      ?.getBoundingClientRect();
    if (!map) return null;
    const { width, height } = this.#room();
    return {
      x: width - map.width / this.#unit - MAP_MARGIN,
      y: height - map.height / this.#unit - MAP_MARGIN,
    };
  }

  /** A place on the screen, in pixels of the view. @param {number} x @param {number} y */
  #inView(x, y) {
    const { left, top } = this.#svg.getBoundingClientRect();
    return { x: (x - left) / this.#unit, y: (y - top) / this.#unit };
  }

  #apply() {
    const { x, y, scale } = this;
    const { width, height } = this.#room();
    this.#content.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    this.#onMove({
      x: -x / scale,
      y: -y / scale,
      width: width / scale,
      height: height / scale,
      scale,
    });
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (this.#pointers.size === 0) this.#moved = 0;
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    this.#moved += Math.abs(dx) + Math.abs(dy);
    if (this.#moved > CLICK_SLACK && !this.#svg.hasPointerCapture(event.pointerId)) {
      this.#svg.setPointerCapture(event.pointerId);
    }
    this.#pointers.set(event.pointerId, now);
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) this.#pinch(before, now, other);
    else {
      this.x += dx / this.#unit;
      this.y += dy / this.#unit;
      this.framing = null;
      this.#apply();
    }
  }

  /** @param {Point} before @param {Point} now @param {Point} other */
  #pinch(before, now, other) {
    const distance = (/** @type {Point} */ p) => Math.hypot(p.x - other.x, p.y - other.y) || 1;
    this.zoom(
      distance(now) / distance(before),
      this.#inView((now.x + other.x) / 2, (now.y + other.y) / 2),
    );
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    if (!this.wheelZooms && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 400), this.#inView(event.clientX, event.clientY));
  }
}

/** The distance to move so that [at - half, at + half] lies in [0, room]. @param {number} at @param {number} half @param {number} room */
function nudge(at, half, room) {
  if (2 * half > room) return room / 2 - at;
  if (at - half < 0) return half - at;
  return at + half > room ? room - half - at : 0;
}

/**
 * The nearest centre of the view at which it shows no more beyond the drawing's edges than it must.
 * @param {Point} centre
 * @param {{width: number, height: number}} size of the drawing
 * @param {{width: number, height: number}} sight
 * @returns {Point}
 */
export function within({ x, y }, size, sight) {
  return { x: clamped(x, size.width, sight.width), y: clamped(y, size.height, sight.height) };
}

/** @param {number} at @param {number} size @param {number} seen */
function clamped(at, size, seen) {
  if (seen >= size) return size / 2;
  return Math.min(size - seen / 2, Math.max(seen / 2, at));
}
