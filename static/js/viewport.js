/** Panning and zooming of an SVG group by pointer, touch, wheel and method calls. */

const CLOSEST = 3;
const CLICK_SLACK = 4;
/** Pixels around the legend, which covers the bottom of the view. */
const LEGEND_MARGIN = 14;

/** @typedef {import("./graph-layout.js").Box} Box */

export class Viewport {
  x = 0;
  y = 0;
  scale = 1;
  #svg;
  #content;
  #farthest = 0.05;
  /** @type {Map<number, {x: number, y: number}>} pressed pointers, by id */
  #pointers = new Map();
  #moved = 0;
  #listeners = new AbortController();
  /** Whether the visitor has panned or zoomed since the last fit. */
  isMoved = false;
  /** Whether the wheel zooms without Ctrl; otherwise it scrolls the page. */
  wheelZooms = false;

  /** @param {SVGSVGElement} svg @param {SVGGElement} content the group to move */
  constructor(svg, content) {
    this.#svg = svg;
    this.#content = content;
    const { signal } = this.#listeners;
    svg.addEventListener("pointerdown", (event) => this.#down(event), { signal });
    svg.addEventListener("pointermove", (event) => this.#move(event), { signal });
    for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) {
      svg.addEventListener(kind, (event) => this.#pointers.delete(event.pointerId), { signal });
    }
    svg.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false });
    // The end of a drag is not a click on the element under it.
    svg.addEventListener("click", (event) => {
      if (this.#moved > CLICK_SLACK) event.stopPropagation();
    }, { signal, capture: true });
  }

  destroy() {
    this.#listeners.abort();
  }

  /**
   * Show the whole drawing, or its beginning if it does not fit.
   * @param {{width: number, height: number}} size
   * @param {number} [smallest] the smallest scale
   */
  fit({ width, height }, smallest = 0) {
    const room = this.#room();
    if (!width || !height || !room.width) return;
    const whole = Math.min(1.1, room.width / width, room.height / height);
    this.scale = Math.max(whole, smallest);
    this.#farthest = Math.min(0.2, whole / 2);
    this.x = Math.max(0, (room.width - width * this.scale) / 2);
    this.y = Math.max(0, (room.height - height * this.scale) / 2);
    this.isMoved = false;
    this.#apply();
  }

  /** @param {number} factor @param {{x: number, y: number}} [about] in pixels of the view */
  zoom(factor, about) {
    const room = this.#room();
    const { x, y } = about ?? { x: room.width / 2, y: room.height / 2 };
    const scale = Math.min(CLOSEST, Math.max(this.#farthest, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.isMoved = true;
    this.#apply();
  }

  /** Move so that a box that moved from `before` to `now` stays in place on the screen. @param {Box} before @param {Box} now */
  keep(before, now) {
    this.x += (before.x - now.x) * this.scale;
    this.y += (before.y - now.y) * this.scale;
    this.#apply();
  }

  /** Move as little as needed to show a box. @param {Box} box */
  show({ x, y, width, height }) {
    const room = this.#room();
    this.x += nudge(this.x + x * this.scale, (width / 2) * this.scale + 12, room.width);
    this.y += nudge(this.y + y * this.scale, (height / 2) * this.scale + 12, room.height);
    this.#apply();
  }

  #room() {
    const { width, height } = this.#svg.getBoundingClientRect();
    const legend = this.#svg.closest(".graph-stage")?.querySelector(".graph-legend");
    const foot = legend ? legend.getBoundingClientRect().height + LEGEND_MARGIN : 0;
    return { width, height: Math.max(0, height - foot) };
  }

  #apply() {
    const { x, y, scale } = this;
    this.#content.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
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
      this.x += dx;
      this.y += dy;
      this.isMoved = true;
      this.#apply();
    }
  }

  /** @typedef {{x: number, y: number}} Point */
  /** @param {Point} before @param {Point} now @param {Point} other */
  #pinch(before, now, other) {
    const distance = (/** @type {Point} */ p) => Math.hypot(p.x - other.x, p.y - other.y) || 1;
    const { left, top } = this.#svg.getBoundingClientRect();
    const about = { x: (now.x + other.x) / 2 - left, y: (now.y + other.y) / 2 - top };
    this.zoom(distance(now) / distance(before), about);
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    if (!this.wheelZooms && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = this.#svg.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 400), { x: event.clientX - left, y: event.clientY - top });
  }
}

/** The distance to move so that [at - half, at + half] lies in [0, room]. @param {number} at @param {number} half @param {number} room */
function nudge(at, half, room) {
  if (2 * half > room) return room / 2 - at;
  if (at - half < 0) return half - at;
  return at + half > room ? room - half - at : 0;
}
