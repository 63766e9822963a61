// A field to draw in, whose pixels are the input of a model.

/** Grey pictures that are drawn, small enough to be drawn by hand. */
const [LEAST, MOST] = [8, 64];

/**
 * Return the side of the square pictures that an input takes; 0 if it takes something else.
 * @param {(number | null)[]} shape  with the batch
 */
export function sideOf(shape) {
  const sizes = shape.slice(1).map(Number);
  if (sizes.at(-1) === 1 && sizes.length === 3) sizes.pop();
  const side = sizes.length === 1 ? Math.sqrt(sizes[0]) : sizes[0];
  const isSquare = sizes.length === 1 || (sizes.length === 2 && sizes[0] === sizes[1]);
  return isSquare && Number.isInteger(side) && side >= LEAST && side <= MOST ? side : 0;
}

/**
 * Let the user draw on a canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {() => void} changed
 */
export function drawable(canvas, changed) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const pen = { down: false };
  context.lineCap = context.lineJoin = "round";
  context.lineWidth = canvas.width / 12;
  context.strokeStyle = "#fff";
  /** @param {PointerEvent} event */
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const scale = canvas.width / box.width;
    return /** @type {const} */ ([
      (event.clientX - box.left) * scale,
      (event.clientY - box.top) * scale,
    ]);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pen.down = true;
    context.beginPath();
    context.moveTo(...place(event));
    context.lineTo(...place(event));
    context.stroke();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!pen.down) return;
    context.lineTo(...place(event));
    context.stroke();
  });
  canvas.addEventListener("pointerup", () => {
    pen.down = false;
    changed();
  });
}

/** @param {HTMLCanvasElement} canvas */
export function clear(canvas) {
  canvas.getContext("2d")?.clearRect(0, 0, canvas.width, canvas.height);
}

/**
 * Return what is drawn as the sample of an input.
 * @param {HTMLCanvasElement} canvas
 * @param {(number | null)[]} shape  of the input, with the batch
 * @param {number} white  the number of a white pixel
 */
export function sampleOf(canvas, shape, white) {
  const side = sideOf(shape);
  const small = Object.assign(document.createElement("canvas"), { width: side, height: side });
  const context = /** @type {CanvasRenderingContext2D} */ (small.getContext("2d"));
  context.imageSmoothingQuality = "high";
  context.drawImage(canvas, 0, 0, side, side);
  const { data } = context.getImageData(0, 0, side, side);
  const digits = white > 1 ? 0 : 3;
  const pixels = Array.from({ length: side * side }, (_, index) =>
    Number(((data[4 * index + 3] / 255) * white).toFixed(digits)),
  );
  if (shape.length === 2) return pixels;
  const rows = Array.from({ length: side }, (_, y) => pixels.slice(y * side, (y + 1) * side));
  return shape.length === 3 ? rows : rows.map((row) => row.map((pixel) => [pixel]));
}
