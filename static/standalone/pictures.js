/** Pictures as inputs of a network and as its outputs. */

import { picturePixels } from "../js/pictures/picture-input.js";

/** @import { Size } from "../js/pictures/picture-input.js" */
/** @typedef {number | number[]} Level one value, or one for each channel */

/** @param {Level} level @param {number} channel */
const levelOf = (level, channel) =>
  typeof level === "number" ? level : level[channel % level.length];

/**
 * Values of pixels as an image of the browser, black to white from `low` to `high`.
 * @param {ArrayLike<number>} values height × width × channels @param {Size} size @param {Level} low @param {Level} high
 */
export function imageOf(values, { height, width, channels }, low, high) {
  const image = new ImageData(width, height);
  for (let pixel = 0; pixel < height * width; pixel += 1) {
    for (let colour = 0; colour < 3; colour += 1) {
      const channel = channels === 3 ? colour : 0;
      const value = values[pixel * channels + channel];
      const [black, white] = [levelOf(low, channel), levelOf(high, channel)];
      image.data[4 * pixel + colour] = (255 * (value - black)) / (white - black || 1);
    }
    image.data[4 * pixel + 3] = 255;
  }
  return image;
}

/** @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} values @param {Size} size @param {Level} low @param {Level} high */
export function show(canvas, values, size, low, high) {
  Object.assign(canvas, { width: size.width, height: size.height });
  canvas.getContext("2d")?.putImageData(imageOf(values, size, low, high), 0, 0);
}

/**
 * A file as pixels from 0 to 1.
 * @param {Blob} file @param {Size} size @returns {Promise<Float32Array>}
 */
export async function filePixels(file, size) {
  const pixels = await picturePixels(file, size);
  return Float32Array.from(pixels, (value) => value / 255);
}

/**
 * The numbers of the network's pixels, for pixels from 0 to 1.
 * @param {Float32Array} pixels @param {{low: number[], high: number[], dtype: string}} input one range, or one for each channel
 */
export function valuesOf(pixels, { low, high, dtype }) {
  const values = pixels.map((pixel, i) => {
    const channel = i % low.length;
    return low[channel] + pixel * (high[channel] - low[channel]);
  });
  return dtype.startsWith("float") ? values : values.map(Math.round);
}
