import assert from "node:assert/strict";
import test from "node:test";
import { SIDE, toMnist } from "../../static/js/pictures/digit.js";

/** A drawing with a filled rectangle. */
function drawing(size, left, top, width, height) {
  const rgba = new Uint8ClampedArray(4 * size * size);
  for (let y = top; y < top + height; y += 1) {
    for (let x = left; x < left + width; x += 1) rgba[4 * (y * size + x) + 3] = 255;
  }
  return rgba;
}

/** Extent of the ink, and its centre of mass. */
function measure(image) {
  let [left, right, top, bottom, mass, x, y] = [SIDE, -1, SIDE, -1, 0, 0, 0];
  image.forEach((ink, index) => {
    if (ink === 0) return;
    const [column, row] = [index % SIDE, Math.floor(index / SIDE)];
    left = Math.min(left, column);
    right = Math.max(right, column);
    top = Math.min(top, row);
    bottom = Math.max(bottom, row);
    mass += ink;
    x += ink * column;
    y += ink * row;
  });
  return { width: right - left + 1, height: bottom - top + 1, x: x / mass, y: y / mass };
}

test("an empty board gives nothing", () => {
  assert.equal(toMnist(new Uint8ClampedArray(4 * 50 * 50), 50, 50), null);
});

test("ink fills a box of 20 by 20 with its proportions, centred by mass", () => {
  for (const [left, top] of [
    [0, 0],
    [60, 90],
    [10, 150],
  ]) {
    const image = toMnist(drawing(224, left, top, 30, 60), 224, 224);
    const { width, height, x, y } = measure(image);
    assert.deepEqual([width, height], [10, 20]);
    assert.ok(Math.abs(x - 13.5) <= 0.5 && Math.abs(y - 13.5) <= 0.5);
    assert.ok(image.every((ink) => ink >= 0 && ink <= 1));
  }
});

test("full ink stays full", () => {
  const image = toMnist(drawing(224, 20, 20, 100, 100), 224, 224);
  assert.equal(
    image.reduce((sum, ink) => sum + ink, 0),
    400,
  );
});

test("a single pixel gives an image", () => {
  const image = toMnist(drawing(224, 3, 3, 1, 1), 224, 224);
  assert.ok(image.some((ink) => ink > 0));
});
