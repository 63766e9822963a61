import assert from "node:assert/strict";
import test from "node:test";
import { largestOf } from "../../static/js/pictures/plane-colours.js";
import { gridValues, valuePixels } from "../../static/js/panels/graph/value-pixels.js";

const COLOURS = {
  negative: [200, 0, 0],
  middle: [100, 100, 100],
  positive: [0, 0, 200],
  invalid: [1, 2, 3],
};

test("the largest finite value has the full colour, and 0 the middle one", () => {
  const values = new Float32Array([-4, 0, 2, NaN, Infinity]);
  assert.equal(largestOf(values), 4);
  const pixels = [...valuePixels(values, COLOURS)];
  assert.deepEqual(pixels.slice(0, 4), [200, 0, 0, 255]);
  assert.deepEqual(pixels.slice(4, 8), [100, 100, 100, 255]);
  assert.deepEqual(pixels.slice(8, 12), [50, 50, 150, 255]);
  assert.deepEqual(pixels.slice(12, 16), [1, 2, 3, 255]);
  assert.deepEqual(pixels.slice(16, 20), [1, 2, 3, 255]);
});

test("a value with zeros only is drawn", () => {
  assert.deepEqual([...valuePixels(new Float32Array(1), COLOURS)], [100, 100, 100, 255]);
});

test("a grid has as many values as rows and columns, whatever was sent", () => {
  const bytes = new Uint8Array(new Float32Array([1, 2, 3]).buffer);
  const grid = { values: bytes, rows: [0, 1], columns: [0, 1], total_rows: 2, total_columns: 2 };
  assert.deepEqual([...gridValues(grid)], [1, 2, 3, 0]);
  assert.deepEqual([...gridValues({ ...grid, rows: [0], columns: [5] })], [1]);
});
