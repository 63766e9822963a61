import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { SIDE, toMnist } from "../pictures/digit.js";
import { t } from "../words/locale.js";

/** Side of the drawing in pixels; the page may scale it. */
const SIZE = 224;
const PEN = 19;
/** Pixels that an arrow key moves the keyboard's pen. */
const STRIDE = 8;

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The drawing, while the panel is not shown. @type {{ink: ImageData | null}} */
const kept = { ink: null };

/** The drawing that was there when the panel was last shown, as `toMnist` returns it. */
export const drawnDigit = () => kept.ink && toMnist(kept.ink.data, SIZE, SIZE);

/** @param {{onDraw: (image: Float32Array | null) => void}} props */
export function DigitCanvas({ onDraw }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const preview = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const pen = useRef({ x: SIZE / 2, y: SIZE / 4, down: false });
  /** Marks the position of the keyboard's pen. */
  const dot = useRef(/** @type {HTMLElement | null} */ (null));
  const [isEmpty, setEmpty] = useState(true);

  // Before the browser paints: a kept drawing must not appear as an empty board first.
  useLayoutEffect(() => {
    const ink = context();
    if (kept.ink) {
      ink.putImageData(kept.ink, 0, 0);
      changed();
    } else showImage(preview.current, null);
    return () => (kept.ink = ink.getImageData(0, 0, SIZE, SIZE));
  }, []);

  const context = () =>
    /** @type {CanvasRenderingContext2D} */ (
      canvas.current?.getContext("2d", { willReadFrequently: true })
    );

  function changed() {
    const { data } = context().getImageData(0, 0, SIZE, SIZE);
    const image = toMnist(data, SIZE, SIZE);
    setEmpty(image === null);
    showImage(preview.current, image);
    onDraw(image);
  }

  function clear() {
    context().clearRect(0, 0, SIZE, SIZE);
    changed();
  }

  /** @param {number} x @param {number} y */
  function lineTo(x, y) {
    const ink = context();
    ink.lineWidth = PEN;
    ink.lineCap = "round";
    ink.strokeStyle = "#fff";
    ink.beginPath();
    ink.moveTo(pen.current.x, pen.current.y);
    ink.lineTo(x, y);
    ink.stroke();
    Object.assign(pen.current, { x, y });
  }

  /** @param {PointerEvent} event @returns {[number, number]} */
  function place(event) {
    const { left, top, width } = /** @type {HTMLElement} */ (event.target).getBoundingClientRect();
    return [((event.clientX - left) * SIZE) / width, ((event.clientY - top) * SIZE) / width];
  }

  /** @param {PointerEvent} event */
  function onPointerDown(event) {
    if (event.button !== 0) return;
    /** @type {HTMLElement} */ (event.target).setPointerCapture(event.pointerId);
    const [x, y] = place(event);
    pen.current = { x, y, down: true };
    lineTo(x, y);
    changed();
  }

  /** @param {PointerEvent} event */
  function onPointerMove(event) {
    if (!pen.current.down) return;
    const all = event.getCoalescedEvents?.() ?? [];
    for (const each of all.length > 0 ? all : [event]) lineTo(...place(each));
    changed();
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    if (["Delete", "Backspace", "Escape"].includes(event.key)) clear();
    else if (event.key === " ") togglePen();
    else if (ARROWS[event.key]) move(ARROWS[event.key]);
    else return;
    event.preventDefault();
  }

  function togglePen() {
    pen.current.down = !pen.current.down;
    placeDot();
  }

  /** @param {[number, number]} direction */
  function move([dx, dy]) {
    const x = Math.min(SIZE - PEN, Math.max(PEN, pen.current.x + dx * STRIDE));
    const y = Math.min(SIZE - PEN, Math.max(PEN, pen.current.y + dy * STRIDE));
    if (pen.current.down) {
      lineTo(x, y);
      changed();
    } else Object.assign(pen.current, { x, y });
    placeDot();
  }

  function placeDot() {
    if (!dot.current) return;
    dot.current.style.left = `${(100 * pen.current.x) / SIZE}%`;
    dot.current.style.top = `${(100 * pen.current.y) / SIZE}%`;
    dot.current.style.background = pen.current.down ? "currentColor" : "";
  }

  const lift = () => (pen.current.down = false);
  return html`
    <div class="digit-board">
      <div class="digit-place">
        <canvas class="digit-canvas" data-testid="digit-canvas" ref=${canvas} width=${SIZE} height=${SIZE}
          tabindex="0" role="application"
          aria-label=${t().digits.canvas}
          onPointerDown=${onPointerDown} onPointerMove=${onPointerMove} onPointerUp=${lift}
          onPointerCancel=${lift} onBlur=${lift} onFocus=${placeDot} onKeyDown=${onKeyDown}></canvas>
        <span class="digit-pen" ref=${dot} aria-hidden="true"></span>
        ${isEmpty && html`<span class="digit-invitation" aria-hidden="true">${t().digits.drawHere}</span>`}
      </div>
      <div class="digit-foot">
        <canvas class="digit-preview" ref=${preview} width=${SIDE} height=${SIDE} aria-hidden="true"
          title=${t().digits.preview}></canvas>
        <button type="button" class="button small" data-testid="digit-clear" onClick=${clear}>${t().digits.clear}</button>
      </div>
    </div>
  `;
}

/** @param {HTMLCanvasElement | null} canvas @param {Float32Array | null} image */
function showImage(canvas, image) {
  const context = canvas?.getContext("2d");
  if (!context) return;
  const pixels = context.createImageData(SIDE, SIDE);
  for (let index = 0; index < SIDE * SIDE; index += 1) {
    pixels.data.fill(255 * (image?.[index] ?? 0), 4 * index, 4 * index + 3);
    pixels.data[4 * index + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
}
