/** Pictures as inputs of a network and as its outputs. */

/** @typedef {{height: number, width: number, channels: number}} Size */

/**
 * Values of pixels as an image of the browser, black to white from `low` to `high`.
 * @param {ArrayLike<number>} values height × width × channels @param {Size} size @param {number} low @param {number} high
 */
export function imageOf(values, { height, width, channels }, low, high) {
  const image = new ImageData(width, height);
  for (let pixel = 0; pixel < height * width; pixel += 1) {
    for (let colour = 0; colour < 3; colour += 1) {
      const value = values[pixel * channels + (channels === 3 ? colour : 0)];
      image.data[4 * pixel + colour] = (255 * (value - low)) / (high - low || 1);
    }
    image.data[4 * pixel + 3] = 255;
  }
  return image;
}

/** @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} values @param {Size} size @param {number} low @param {number} high */
export function show(canvas, values, size, low, high) {
  Object.assign(canvas, { width: size.width, height: size.height });
  canvas.getContext("2d")?.putImageData(imageOf(values, size, low, high), 0, 0);
}

/**
 * A file as pixels from 0 to 1, cut to the proportions of `size` around its centre and scaled.
 * @param {Blob} file @param {Size} size @returns {Promise<Float32Array>}
 */
export async function pixelsOf(file, { height, width, channels }) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.max(width / bitmap.width, height / bitmap.height);
  const canvas = new OffscreenCanvas(width, height);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.imageSmoothingQuality = "high";
  const [wide, tall] = [bitmap.width * scale, bitmap.height * scale];
  context.drawImage(bitmap, (width - wide) / 2, (height - tall) / 2, wide, tall);
  bitmap.close();
  const { data } = context.getImageData(0, 0, width, height);
  const pixels = new Float32Array(height * width * channels);
  for (let pixel = 0; pixel < height * width; pixel += 1) {
    const [red, green, blue] = data.subarray(4 * pixel, 4 * pixel + 3);
    if (channels === 3) pixels.set([red / 255, green / 255, blue / 255], 3 * pixel);
    else pixels[pixel] = (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
  }
  return pixels;
}
