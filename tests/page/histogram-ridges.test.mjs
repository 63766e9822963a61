import assert from "node:assert/strict";
import test from "node:test";
import { layout, placeAt, ridgesOf } from "../../static/js/panels/inspect/histogram-ridges.js";

/** @param {number[][]} rows @param {number} range */
const series = (rows, range) => ({
  kind: /** @type {const} */ ("weights"),
  range,
  steps: rows.map((_, at) => 10 * at),
  counts: new Uint8Array(Uint32Array.from(rows.flat()).buffer),
  sizes: rows.map(() => 1),
  spreads: rows.map(() => 1),
  strays: rows.map(() => 0),
});

test("bins without values at both ends are left out, for all steps alike", () => {
  const ridges = ridgesOf(
    series(
      [
        [0, 0, 5, 1, 0, 0, 0, 0],
        [0, 70000, 0, 0, 2, 0, 0, 0],
      ],
      2,
    ),
  );
  assert.deepEqual([ridges.first, ridges.last, ridges.most], [1, 4, 70000]);
  assert.deepEqual([ridges.edges(0), ridges.edges(4), ridges.edges(8)], [-2, 0, 2]);
  const empty = ridgesOf(series([[0, 0, 0, 0]], 1));
  assert.deepEqual([empty.first, empty.last, empty.most], [0, 3, 0]);
});

test("of many records the first, the last and some between are drawn", () => {
  const { steps, counts } = ridgesOf(
    series(
      Array.from({ length: 60 }, (_, at) => [at, 1]),
      1,
    ),
  );
  assert.equal(steps.length, 24);
  assert.deepEqual([steps[0], steps.at(-1)], [0, 590]);
  assert.deepEqual(
    counts.map(([first]) => first),
    steps.map((step) => step / 10),
  );
});

test("a place in the picture is a step and a bin", () => {
  const ridges = ridgesOf(
    series(
      [
        [1, 1, 1, 1],
        [1, 1, 1, 1],
        [1, 1, 1, 1],
      ],
      1,
    ),
  );
  const { base } = layout(ridges, 100);
  assert.deepEqual(placeAt(ridges, 0.6, base(1) / 100, 100), { row: 1, bin: 2 });
  assert.deepEqual(placeAt(ridges, 2, 2, 100), { row: 2, bin: 3 });
  assert.deepEqual(placeAt(ridges, -1, -1, 100), { row: 0, bin: 0 });
});
