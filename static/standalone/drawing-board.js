/** A board to draw on with a pointer or the keyboard: white ink on black, as in MNIST. */

import { SIDE, toMnist } from "../js/pictures/digit.js";
import { button, element } from "./elements.js";
import { words } from "./words.js";

const SIZE = 224;
const PEN = 19;
/** Pixels that an arrow key moves the pen. */
const STRIDE = 8;
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * @param {{height: number, width: number}} size of the network's pictures
 * @param {(pixels: Float32Array | null) => void} onDraw gets values from 0 to 1; null for an empty board
 */
export function drawingBoard({ height, width }, onDraw) {
  const canvas = element("canvas", {
    width: SIZE,
    height: SIZE,
    tabIndex: 0,
    role: "application",
    "aria-label": words.board,
    data: "board",
  });
  const hint = element("span", { className: "board-hint", "aria-hidden": "true" }, words.draw);
  const ink = /** @type {CanvasRenderingContext2D} */ (
    canvas.getContext("2d", { willReadFrequently: true })
  );
  const pen = { x: SIZE / 2, y: SIZE / 4, down: false };

  function changed() {
    const pixels = read(ink, height, width);
    hint.hidden = pixels !== null;
    onDraw(pixels);
  }

  function clear() {
    ink.clearRect(0, 0, SIZE, SIZE);
    changed();
  }

  /** @param {number} x @param {number} y */
  function lineTo(x, y) {
    Object.assign(ink, { lineWidth: PEN, lineCap: "round", strokeStyle: "#fff" });
    ink.beginPath();
    ink.moveTo(pen.x, pen.y);
    ink.lineTo(x, y);
    ink.stroke();
    Object.assign(pen, { x, y });
  }

  /** @param {PointerEvent} event */
  function place(event) {
    const box = canvas.getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) * SIZE) / box.width,
      y: ((event.clientY - box.top) * SIZE) / box.height,
    };
  }

  canvas.onpointerdown = (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    Object.assign(pen, place(event), { down: true });
    lineTo(pen.x, pen.y);
    changed();
  };
  canvas.onpointermove = (event) => {
    if (!pen.down || !event.buttons) return;
    const { x, y } = place(event);
    lineTo(x, y);
    changed();
  };
  canvas.onpointerup = canvas.onpointercancel = canvas.onblur = () => (pen.down = false);
  canvas.onkeydown = (event) => {
    if (["Delete", "Backspace", "Escape"].includes(event.key)) clear();
    else if (event.key === " ") pen.down = !pen.down;
    else if (ARROWS[event.key]) {
      const [x, y] = ARROWS[event.key].map((step, axis) =>
        Math.min(SIZE - PEN, Math.max(PEN, (axis === 0 ? pen.x : pen.y) + step * STRIDE)),
      );
      if (pen.down) {
        lineTo(x, y);
        changed();
      } else Object.assign(pen, { x, y });
    } else return;
    event.preventDefault();
  };
  return {
    node: element(
      "div",
      { className: "board" },
      element("div", { className: "board-place" }, canvas, hint),
    ),
    clear: button(words.clear, "clear", clear),
    /** Forget the ink, without a call of `onDraw`. */
    wipe: () => {
      ink.clearRect(0, 0, SIZE, SIZE);
      hint.hidden = false;
    },
  };
}

/** The ink as pixels of the network: placed as MNIST's if it has their size. @param {CanvasRenderingContext2D} ink @param {number} height @param {number} width */
function read(ink, height, width) {
  const { data } = ink.getImageData(0, 0, SIZE, SIZE);
  if (height === SIDE && width === SIDE) return toMnist(data, SIZE, SIZE);
  if (data.every((value, i) => i % 4 !== 3 || value === 0)) return null;
  const small = new OffscreenCanvas(width, height);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (small.getContext("2d"));
  context.imageSmoothingQuality = "high";
  context.drawImage(ink.canvas, 0, 0, width, height);
  const scaled = context.getImageData(0, 0, width, height).data;
  return Float32Array.from({ length: height * width }, (_, pixel) => scaled[4 * pixel + 3] / 255);
}
