/** A data set out of images of classes. */

import { t } from "../words/locale.js";
import { DataProblem, checkSet } from "./problem.js";
import { splitRows } from "./split.js";

/**
 * @import { DataSet } from "./data-set.js"
 * @import { Decoded, Format } from "./image-files.js"
 */

/**
 * @param {Pick<Decoded, "pixels" | "labels">} images
 * @param {Format} format
 * @param {string[]} classes
 * @param {{test: number, seed: number}} choices
 * @returns {DataSet}
 * @throws {DataProblem}
 */
export function imagesSet({ pixels, labels }, { side, channels }, classes, { test, seed }) {
  const shown = new Set(labels);
  if (shown.size < 2) {
    const empty = classes.filter((_, label) => !shown.has(label));
    throw new DataProblem(t().dataFiles.images.emptyClasses(empty));
  }
  checkSet(4 * pixels.length); // Python makes them float32
  const size = side * side * channels;
  const rows = splitRows(labels, test, seed);
  /** @param {number[]} each */
  const part = (each) => {
    const x = new Uint8Array(each.length * size);
    each.forEach((row, at) => x.set(pixels.subarray(row * size, (row + 1) * size), at * size));
    return { x, y: Int32Array.from(each, (row) => labels[row]), count: each.length };
  };
  return {
    kind: "images",
    shape: [side, side, channels],
    classes,
    columns: [],
    normal: null,
    train: part(rows.train),
    test: part(rows.test),
  };
}
