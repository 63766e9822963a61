/** Files of images: which there are, of which class, and whether they are safe to decode. */

import { MOST_PIXELS, imageSize } from "../pictures/image-size.js";
import { t } from "../words/locale.js";
import { pixelsOf } from "../pictures/picture-input.js";
import { PictureReader } from "./picture-reader.js";
import { DataProblem, checkSet } from "./problem.js";

/**
 * @typedef {{path: string, label: number, load: () => Promise<Blob>}} ImageFile
 */

const MOST_IMAGES = 20_000;
const MOST_CLASSES = 1000;

/** @param {string} path */
export const isImage = (path) => /\.(png|jpe?g|webp|gif|bmp)$/i.test(path);

/**
 * The images among files, with the folder as the class.
 * @param {{path: string, load: () => Promise<Blob>}[]} files
 * @param {string} name of the folder or archive
 * @returns {{images: ImageFile[], classes: string[], skipped: string[]}}
 * @throws {DataProblem}
 */
export function imagesIn(files, name) {
  const words = t().dataFiles.images;
  const images = files.filter(({ path }) => isImage(path));
  const skipped = files
    .filter(({ path }) => !isImage(path))
    .map(({ path }) => words.skipped(path, words.notImage));
  if (images.length > MOST_IMAGES)
    throw new DataProblem(words.tooMany(name, images.length, MOST_IMAGES));
  const folders = images.map(({ path }) => folderOf(path));
  const classes = [...new Set(folders)].sort();
  if (classes.length < 2)
    throw new DataProblem(classes[0] ? words.oneFolder(name, classes[0]) : words.noFolders(name));
  if (classes.length > MOST_CLASSES) throw new DataProblem(words.manyFolders(name, classes.length));
  const labels = new Map(classes.map((title, label) => [title, label]));
  return {
    images: images.map(({ path, load }, at) => ({
      path,
      load,
      label: labels.get(folders[at]) ?? 0,
    })),
    classes,
    skipped,
  };
}

/** The last folder of a path, "" for none. @param {string} path */
const folderOf = (path) => path.split("/").at(-2) ?? "";

/**
 * Refuse an image whose header promises more pixels than a browser should decode.
 * @param {Uint8Array} bytes of the file
 * @throws {DataProblem}
 */
export function checkPixels(bytes) {
  const words = t().dataFiles.images;
  const size = imageSize(bytes);
  if (!size) throw new DataProblem(words.undecodable);
  if (size[0] * size[1] > MOST_PIXELS) throw new DataProblem(words.manyPixels(...size));
}

/**
 * @typedef {{side: number, channels: 1 | 3}} Format
 * @typedef {{pixels: Uint8Array, labels: number[], paths: string[], skipped: string[]}} Decoded
 *   `pixels`: (images, side, side, channels)
 */

/**
 * Decode images in the browser, as squares.
 * @param {ImageFile[]} files
 * @param {Format} format
 * @param {(done: number) => void} progress
 * @param {AbortSignal} signal
 * @returns {Promise<Decoded>}
 * @throws {DataProblem} they would take too much memory
 */
export async function decodeImages(files, format, progress, signal) {
  checkSet(4 * files.length * format.side ** 2 * format.channels); // Python makes them float32
  const reader = new PictureReader();
  try {
    return await decodeBy(reader, files, format, progress, signal);
  } finally {
    reader.close();
  }
}

/**
 * @param {PictureReader} reader
 * @param {ImageFile[]} files
 * @param {Format} format
 * @param {(done: number) => void} progress
 * @param {AbortSignal} signal
 */
async function decodeBy(reader, files, format, progress, signal) {
  /** @type {Decoded} */
  const decoded = {
    pixels: new Uint8Array(files.length * format.side ** 2 * format.channels),
    labels: [],
    paths: [],
    skipped: [],
  };
  let count = 0;
  for (const [at, { path, label, load }] of files.entries()) {
    signal.throwIfAborted();
    if (at % 16 === 0) progress(at);
    let pixels;
    try {
      const blob = await load();
      checkPixels(new Uint8Array(await blob.arrayBuffer()));
      pixels = await reader.read(blob, squareSize(format));
    } catch (failure) {
      const words = t().dataFiles.images;
      decoded.skipped.push(
        words.skipped(path, failure instanceof DataProblem ? failure.message : words.undecodable),
      );
      continue;
    }
    decoded.pixels.set(pixels, count * format.side ** 2 * format.channels);
    decoded.labels.push(label);
    decoded.paths.push(path);
    count += 1;
  }
  decoded.pixels = decoded.pixels.slice(0, count * format.side ** 2 * format.channels);
  return decoded;
}

/**
 * The pixels of the square in the middle of a picture.
 * @param {CanvasImageSource} picture @param {number} width @param {number} height @param {Format} format
 */
export const squareOf = (picture, width, height, format) =>
  pixelsOf(picture, width, height, squareSize(format));

/** @param {Format} format */
const squareSize = ({ side, channels }) => ({ height: side, width: side, channels });
