/**
 * Pictures as the pixels of a network, the same wherever a picture goes in. `app/playgrad/data/picture.py`
 * computes the same; `app/playgrad/data/input_description.py` says the rules.
 */

import { MOST_PIXELS, imageSize } from "./image-size.js";

const GREY = [0.299, 0.587, 0.114];

/** Pixels that are copied at a time: a whole picture may have sixteen times as many. */
const STRIP_PIXELS = 4_000_000;

/** The formats of which the size is read before they are decoded. */
export const PICTURE_TYPES = ["png", "jpeg", "gif", "webp", "bmp"].map((name) => `image/${name}`);

/** @typedef {{height: number, width: number, channels: number}} Size */

/**
 * The bytes of a file as a picture: turned as its EXIF orientation says, its values as they are in the file.
 * @param {Blob} file
 * @throws {TypeError} it is not in one of the formats of `PICTURE_TYPES`, or its header is damaged
 * @throws {RangeError} it has too many pixels
 */
async function openPicture(file) {
  const size = imageSize(new Uint8Array(await file.arrayBuffer()));
  if (!size) throw new TypeError("not a picture in a known format");
  const [width, height] = size;
  if (width * height > MOST_PIXELS) throw new RangeError(`${width} × ${height} pixels`);
  return createImageBitmap(file, { colorSpaceConversion: "none" });
}

/**
 * The pixels of the picture in a file, as of `pixelsOf`.
 * @param {Blob} file
 * @param {Size} size
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {Error} as `openPicture`; or it cannot be decoded
 */
export async function picturePixels(file, size) {
  const picture = await openPicture(file);
  try {
    return pixelsOf(picture, picture.width, picture.height, size);
  } finally {
    picture.close();
  }
}

/**
 * The pixels of a picture, cut to the proportions of `size` around its centre and averaged over areas.
 * @param {CanvasImageSource} picture shown on white where it is transparent
 * @param {number} width of the picture
 * @param {number} height of the picture
 * @param {Size} size with 1 channel for grey, or 3
 * @returns {Uint8Array<ArrayBuffer>} height × width × channels
 */
export function pixelsOf(picture, width, height, size) {
  const tall = Math.min(height, Math.max(1, Math.floor(STRIP_PIXELS / width)));
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
    new OffscreenCanvas(width, tall).getContext("2d", { willReadFrequently: true })
  );
  context.fillStyle = "white";
  context.imageSmoothingEnabled = false;
  let first = NaN;
  let strip = new Uint8ClampedArray();
  const rowAt = (/** @type {number} */ y) => {
    if (!(y >= first && y < first + tall)) {
      first = y;
      context.fillRect(0, 0, width, tall);
      context.drawImage(picture, 0, -first);
      strip = context.getImageData(0, 0, width, tall).data;
    }
    return strip.subarray(4 * width * (y - first), 4 * width * (y - first + 1));
  };
  return fitted({ width, height, rowAt }, size);
}

/**
 * @param {{width: number, height: number, rowAt: (y: number) => ArrayLike<number>}} image
 *   `rowAt`: a row as RGBA, without transparency; rows are asked for from top to bottom, some of them twice
 * @param {Size} size
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function fitted(image, { height, width, channels }) {
  const scale = Math.max(width / image.width, height / image.height);
  const rows = areas(image.height, height, scale);
  const columns = areas(image.width, width, scale);
  const pixels = new Uint8Array(height * width * channels);
  const line = new Float64Array(4 * image.width);
  for (const [row, tall] of rows.entries()) {
    line.fill(0);
    tall.parts.forEach((part, y) => {
      const values = image.rowAt(tall.first + y);
      for (let i = 0; i < line.length; i += 1) line[i] += part * values[i];
    });
    for (const [column, wide] of columns.entries()) {
      const mean = [0, 0, 0].map((_, colour) =>
        wide.parts.reduce((sum, part, x) => sum + part * line[4 * (wide.first + x) + colour], 0),
      );
      const values =
        channels === 3 ? mean : [GREY.reduce((sum, part, i) => sum + part * mean[i], 0)];
      // Sums in another order differ in the last bits, which must not decide how a half is rounded.
      const bytes = values.map((value) => Math.floor(value + 0.5 + 1e-6));
      pixels.set(bytes, channels * (row * width + column));
    }
  }
  return pixels;
}

/**
 * The old pixels in each new one: the first, and the part of each from there on.
 * @param {number} length @param {number} count @param {number} scale
 * @returns {{first: number, parts: number[]}[]}
 */
function areas(length, count, scale) {
  const start = (length - count / scale) / 2;
  const edge = (/** @type {number} */ at) => Math.min(length, Math.max(0, start + at / scale));
  return Array.from({ length: count }, (_, at) => {
    const [begin, end] = [edge(at), edge(at + 1)];
    const first = Math.min(Math.floor(begin), length - 1);
    const overlaps = Array.from(
      { length: Math.max(1, Math.ceil(end) - first) },
      (__, i) => Math.min(end, first + i + 1) - Math.max(begin, first + i),
    );
    const sum = overlaps.reduce((a, b) => a + b, 0);
    return { first, parts: overlaps.map((part) => part / sum) };
  });
}
