/** A data set out of points that were placed by hand. */

import { splitRows } from "./split.js";

/**
 * @import { DataSet } from "./data-set.js"
 * @typedef {{x: number, y: number, label: number}} Point
 */

/**
 * @param {Point[]} points
 * @param {string[]} classes
 * @param {{test: number, seed: number}} choices
 * @returns {DataSet}
 */
export function pointsSet(points, classes, { test, seed }) {
  const rows = splitRows(
    points.map(({ label }) => label),
    test,
    seed,
  );
  /** @param {number[]} each */
  const part = (each) => ({
    x: Float32Array.from(each.flatMap((row) => [points[row].x, points[row].y])),
    y: Int32Array.from(each, (row) => points[row].label),
    count: each.length,
  });
  return {
    kind: "points",
    shape: [2],
    classes,
    columns: ["x", "y"],
    normal: null,
    train: part(rows.train),
    test: part(rows.test),
  };
}
