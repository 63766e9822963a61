/** Draws nodes when they change, and while a visitor moves about among them. */

import { drawNodes, radiusOf } from "./nodes-drawing.js";
import { nodeAt, showing, whole, zoomed } from "./nodes-sight.js";

/**
 * @import { NodesDrawing } from "./nodes-drawing.js"
 * @import { Sight } from "./nodes-sight.js"
 * @typedef {Omit<NodesDrawing, "sight" | "whole" | "size">} NodesContent
 */

/** Drawing that takes longer than this is replaced with the last drawing, moved, while the sight changes. */
const SLOW_MS = 7;
/** The time after which a sight that no longer changes is drawn. */
const REST_MS = 90;

export class Painter {
  #canvas;
  #onMoved;
  /** @type {NodesContent | null} */
  #picture = null;
  /** @type {Sight} */
  #sight = { x: 0, y: 0, scale: 1 };
  /** @type {Sight} */
  #whole = this.#sight;
  #isMoved = false;
  #frame = 0;
  #timer = 0;
  #cost = 0;
  /** The last drawing, and what was in sight in it. @type {{canvas: HTMLCanvasElement, sight: Sight} | null} */
  #last = null;

  /** @param {HTMLCanvasElement} canvas @param {(isMoved: boolean) => void} onMoved is told whether the whole is in sight */
  constructor(canvas, onMoved) {
    this.#canvas = canvas;
    this.#onMoved = onMoved;
  }

  end() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
  }

  /** @param {NodesContent} picture */
  show(picture) {
    const isElsewhere = picture.points !== this.#picture?.points;
    this.#picture = picture;
    if (isElsewhere) this.resized();
    else this.#draw();
  }

  resized() {
    if (!this.#picture) return;
    this.#whole = whole(this.#picture.points, this.#size);
    if (!this.#isMoved) this.#sight = this.#whole;
    this.#draw();
  }

  fit() {
    this.#sight = this.#whole;
    this.#setMoved(false);
    this.#later();
  }

  /** @param {number} across @param {number} up */
  move(across, up) {
    const { x, y, scale } = this.#sight;
    this.#sight = { x: x + across, y: y + up, scale };
    this.#setMoved(true);
    this.#later();
  }

  /** @param {number} factor @param {{x: number, y: number}} [about] in pixels of the view */
  zoom(factor, about) {
    const { width, height } = this.#size;
    const centre = about ?? { x: width / 2, y: height / 2 };
    this.#sight = zoomed(this.#sight, factor, centre, this.#whole.scale);
    this.#setMoved(true);
    this.#later();
  }

  /** @param {number} node */
  reveal(node) {
    const { points } = /** @type {NodesContent} */ (this.#picture);
    const sight = showing(this.#sight, points[2 * node], points[2 * node + 1], this.#size);
    if (sight.x === this.#sight.x && sight.y === this.#sight.y) return;
    this.#sight = sight;
    this.#setMoved(true);
    this.#later();
  }

  /** @param {number} x @param {number} y @param {number} reach */
  nodeAt(x, y, reach) {
    const drawing = this.#drawing();
    if (!drawing) return -1;
    return nodeAt(drawing.points, this.#sight, x, y, Math.max(reach, radiusOf(drawing)));
  }

  get #size() {
    return { width: this.#canvas.clientWidth, height: this.#canvas.clientHeight };
  }

  /** @returns {NodesDrawing | null} */
  #drawing() {
    if (!this.#picture) return null;
    return { ...this.#picture, sight: this.#sight, whole: this.#whole, size: this.#size };
  }

  /** @param {boolean} isMoved */
  #setMoved(isMoved) {
    if (isMoved === this.#isMoved) return;
    this.#isMoved = isMoved;
    this.#onMoved(isMoved);
  }

  /** Draw in the next frame what is in sight now. */
  #later() {
    clearTimeout(this.#timer);
    if (this.#cost > SLOW_MS) this.#timer = setTimeout(() => this.#draw(), REST_MS);
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() =>
      this.#cost > SLOW_MS ? this.#drawLast() : this.#draw(),
    );
  }

  #draw() {
    const drawing = this.#drawing();
    const context = this.#canvas.getContext("2d");
    const { width, height } = this.#size;
    if (!drawing || !context || width === 0) return;
    cancelAnimationFrame(this.#frame);
    const began = performance.now();
    this.#prepare(this.#canvas, width, height);
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    drawNodes(context, drawing);
    this.#cost = performance.now() - began;
    if (this.#cost > SLOW_MS) this.#keep(width, height);
    else this.#last = null;
  }

  /** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
  #prepare(canvas, width, height) {
    const [across, up] = [width, height].map((each) => Math.round(each * devicePixelRatio));
    if (canvas.width !== across) canvas.width = across;
    if (canvas.height !== up) canvas.height = up;
  }

  /** Keep the drawing for `#drawLast`. @param {number} width @param {number} height */
  #keep(width, height) {
    const canvas = this.#last?.canvas ?? document.createElement("canvas");
    this.#prepare(canvas, width, height);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.#canvas, 0, 0);
    this.#last = { canvas, sight: this.#sight };
  }

  /** The last drawing, as it looks from the present sight. */
  #drawLast() {
    const context = this.#canvas.getContext("2d");
    if (!context || !this.#last) return;
    const { canvas, sight } = this.#last;
    const part = this.#sight.scale / sight.scale;
    const [x, y] = [this.#sight.x - sight.x * part, this.#sight.y - sight.y * part];
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    const across = [x, y].map((each) => each * devicePixelRatio);
    context.drawImage(canvas, across[0], across[1], canvas.width * part, canvas.height * part);
  }
}
