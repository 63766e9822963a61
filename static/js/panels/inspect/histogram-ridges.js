/** Where the ridges of histograms are: plain numbers. */

/** @import { HistogramSeries } from "../../../engine/messages.js" */

/**
 * @typedef {{steps: number[], first: number, last: number, edges: (bin: number) => number, counts: Uint32Array[],
 *            most: number}} Ridges
 *   `first`, `last`: the bins that are shown; `edges`: of a bin, the lower one; `most`: the largest count
 */

/** How high the highest ridge is, in distances between the base lines of neighbours, at least. */
const OVERLAP = 4;
/** The part of the picture that it takes at most. */
const HIGHEST = 0.6;
/** Of more records some are left out, evenly: their ridges would hide each other. */
const MOST_RIDGES = 24;

/** The bins between the outermost values of all steps. @param {HistogramSeries} series @returns {Ridges} */
export function ridgesOf({ steps: all, counts, range }) {
  const bins = Math.floor(counts.length / 4 / Math.max(1, all.length));
  const view = new DataView(counts.buffer, counts.byteOffset, counts.byteLength);
  const shown = Math.min(all.length, MOST_RIDGES);
  const records = Array.from({ length: shown }, (_, at) =>
    Math.round((at * (all.length - 1)) / Math.max(1, shown - 1)),
  );
  const rows = records.map((row) =>
    Uint32Array.from({ length: bins }, (_, bin) => view.getUint32(4 * (row * bins + bin), true)),
  );
  let [first, last, most] = [bins, -1, 0];
  for (const row of rows) {
    row.forEach((count, bin) => {
      if (!count) return;
      first = Math.min(first, bin);
      last = Math.max(last, bin);
      most = Math.max(most, count);
    });
  }
  if (last < 0) [first, last] = [0, bins - 1];
  return {
    steps: records.map((row) => all[row]),
    first,
    last,
    most,
    counts: rows,
    edges: (bin) => (bin * 2 * range) / bins - range,
  };
}

/**
 * The base line of each ridge, and the height of the highest, in a picture of a height.
 * @param {Ridges} ridges
 * @param {number} height
 */
export function layout({ steps }, height) {
  const between = height / (steps.length + OVERLAP);
  const highest =
    steps.length > 1
      ? Math.min(HIGHEST * height, Math.max(OVERLAP * between, height / 4))
      : 0.92 * height;
  const room = height - highest - 2;
  const base = (/** @type {number} */ row) =>
    highest + (steps.length > 1 ? (room * row) / (steps.length - 1) : room);
  return { base, highest };
}

/**
 * The ridge and the bin at a place of a picture, both coordinates from 0 to 1.
 * @param {Ridges} ridges
 * @param {number} across
 * @param {number} down
 * @param {number} height
 * @returns {{row: number, bin: number}}
 */
export function placeAt(ridges, across, down, height) {
  const { base } = layout(ridges, height);
  const distances = ridges.steps.map((_, row) => Math.abs(base(row) - down * height));
  const shown = ridges.last - ridges.first + 1;
  const bin = ridges.first + Math.min(shown - 1, Math.max(0, Math.floor(across * shown)));
  return { row: distances.indexOf(Math.min(...distances)), bin };
}
