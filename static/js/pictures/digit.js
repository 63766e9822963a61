/**
 * Converts a drawing to 28 by 28 pixels, as the images of MNIST were made: the ink is cropped, scaled
 * to fit 20 by 20 with its proportions kept, and placed with its centre of mass at the centre of the
 * image (LeCun, Cortes and Burges, "The MNIST database", yann.lecun.com/exdb/mnist).
 */

export const SIDE = 28;
const INNER = 20;
const VISIBLE = 8;

/**
 * @param {Uint8ClampedArray} rgba of a canvas, with the ink in its alpha channel
 * @param {number} width in pixels
 * @param {number} height in pixels
 * @returns {Float32Array | null} SIDE × SIDE values from 0 to 1, row by row; null for an empty canvas
 */
export function toMnist(rgba, width, height) {
  const box = boundingBox(rgba, width, height);
  if (!box) return null;
  const scale = INNER / Math.max(box.width, box.height);
  const columns = Math.max(1, Math.round(box.width * scale));
  const rows = Math.max(1, Math.round(box.height * scale));
  const small = new Float32Array(columns * rows);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      small[row * columns + column] = meanInk(rgba, width, {
        left: box.left + (column * box.width) / columns,
        right: box.left + ((column + 1) * box.width) / columns,
        top: box.top + (row * box.height) / rows,
        bottom: box.top + ((row + 1) * box.height) / rows,
      });
    }
  }
  return centred(small, columns);
}

/** @param {Uint8ClampedArray} rgba @param {number} width @param {number} height */
function boundingBox(rgba, width, height) {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (rgba[4 * (y * width + x) + 3] < VISIBLE) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = y;
    }
  }
  return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/**
 * The mean of the ink over an area, whose edges may cut through pixels.
 * @param {Uint8ClampedArray} rgba
 * @param {number} width
 * @param {{left: number, right: number, top: number, bottom: number}} area
 */
function meanInk(rgba, width, { left, right, top, bottom }) {
  let ink = 0;
  for (let y = Math.floor(top); y < bottom; y += 1) {
    const tall = Math.min(y + 1, bottom) - Math.max(y, top);
    for (let x = Math.floor(left); x < right; x += 1) {
      const wide = Math.min(x + 1, right) - Math.max(x, left);
      ink += tall * wide * rgba[4 * (y * width + x) + 3];
    }
  }
  return ink / (255 * (right - left) * (bottom - top));
}

/** @param {Float32Array} small @param {number} columns */
function centred(small, columns) {
  let [mass, sumX, sumY] = [0, 0, 0];
  small.forEach((ink, index) => {
    mass += ink;
    sumX += ink * (index % columns);
    sumY += ink * Math.floor(index / columns);
  });
  const left = Math.round((SIDE - 1) / 2 - sumX / mass);
  const top = Math.round((SIDE - 1) / 2 - sumY / mass);
  const image = new Float32Array(SIDE * SIDE);
  small.forEach((ink, index) => {
    const x = left + (index % columns);
    const y = top + Math.floor(index / columns);
    if (x >= 0 && x < SIDE && y >= 0 && y < SIDE) image[y * SIDE + x] = Math.min(1, ink);
  });
  return image;
}
