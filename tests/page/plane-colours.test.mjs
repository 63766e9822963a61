import assert from "node:assert/strict";
import test from "node:test";
import {
  between,
  decisionsOf,
  parseColour,
  planePixels,
  unitPixels,
} from "../../static/js/pictures/plane-colours.js";

const palette = {
  surface: [255, 255, 255],
  classes: [
    [0, 0, 255],
    [255, 0, 0],
    [0, 255, 0],
  ],
};

/** @param {number[]} outputs @param {number} cells @param {string} scale */
const labels = (outputs, cells, scale) => [
  ...decisionsOf(Float32Array.from(outputs), cells, scale, [0, 1]).labels,
];

/** How sure the model is about one cell. @param {number[]} outputs @param {string} scale */
const certainty = (outputs, scale) =>
  decisionsOf(Float32Array.from(outputs), 1, scale, [0, 1]).certainties[0];

/** @param {number[]} outputs @param {number} cells @param {string} scale @param {[number, number]} range */
const plane = (outputs, cells, scale, range) => [
  ...planePixels(decisionsOf(Float32Array.from(outputs), cells, scale, range), palette),
];

test("the class follows the largest output, the sign or the threshold", () => {
  assert.deepEqual(labels([0, 2, 1, 5, 4, 3], 2, "softmax"), [1, 0]);
  assert.deepEqual(labels([0.2, 0.8], 1, "probabilities"), [1]);
  assert.deepEqual(labels([-1, 1], 2, "sigmoid"), [0, 1]);
  assert.deepEqual(labels([0.4, 0.6], 2, "probability"), [0, 1]);
  assert.deepEqual(labels([-0.1, 0.1], 2, "margin"), [0, 1]);
});

test("certainty goes from 0 for a guess to 1", () => {
  assert.ok(Math.abs(certainty([3, 3, 3], "softmax")) < 1e-6);
  assert.ok(certainty([50, 0, 0], "softmax") > 0.999);
  assert.ok(Math.abs(certainty([0.25, 0.75], "probabilities") - 0.5) < 1e-6);
  assert.equal(certainty([0], "sigmoid"), 0);
  assert.ok(Number.isNaN(certainty([NaN, 1], "softmax")));
});

test("numbers lean to one end of their range, and no further than to it", () => {
  assert.deepEqual(between(0, [0, 10]), { label: 0, certainty: 1 });
  assert.deepEqual(between(5, [0, 10]), { label: 0, certainty: 0 });
  assert.deepEqual(between(1e9, [0, 10]), { label: 1, certainty: 1 });
  assert.deepEqual(between(7, [7, 7]), { label: 0, certainty: 0 });
});

test("the plane is blank where the model is undecided or gives no number", () => {
  assert.deepEqual(
    plane([0, 0, NaN, NaN], 2, "softmax", [0, 1]),
    [255, 255, 255, 255, 255, 255, 255, 255],
  );
});

test("sure cells have the colour of their class", () => {
  const pixels = plane([90, 0, 0, 90], 2, "softmax", [0, 1]);
  assert.ok(pixels[2] > pixels[0] && pixels[4] > pixels[6]);
});

test("a number to be predicted has the colour of the end that it leans to", () => {
  const pixels = plane([0, 5, 10, NaN], 4, "linear", [0, 10]);
  assert.ok(pixels[2] > pixels[0]);
  assert.deepEqual(pixels.slice(4, 8), [255, 255, 255, 255]);
  assert.ok(pixels[8] > pixels[10]);
  assert.deepEqual(pixels.slice(12), [255, 255, 255, 255]);
});

test("the byte 128 of a unit is blank, and its ends are coloured", () => {
  const pixels = unitPixels(Uint8Array.of(128, 1, 255), palette);
  assert.deepEqual([...pixels.slice(0, 3)], [255, 255, 255]);
  assert.ok(pixels[6] > pixels[4]);
  assert.ok(pixels[8] > pixels[10]);
  const dark = { surface: [0, 0, 0], classes: palette.classes };
  assert.deepEqual([...unitPixels(Uint8Array.of(128), dark)], [0, 0, 0, 255], "another palette");
});

test("computed colours are read", () => {
  assert.deepEqual(parseColour("rgb(36, 88, 184)"), [36, 88, 184]);
});
