import assert from "node:assert/strict";
import test from "node:test";
import { confusionOf, hardestOf } from "../../static/js/pictures/confusion.js";
import {
  aligned,
  movedTo,
  nearest,
  squareAround,
} from "../../static/js/panels/inspect/projection.js";

test("a confusion matrix counts by true and predicted class", () => {
  const { counts, right, counted } = confusionOf([0, 1, 1, 2, 2, 2], [0, 1, 0, 2, 2, 1], 3);
  assert.deepEqual(counts, [
    [1, 0, 0],
    [1, 1, 0],
    [0, 1, 2],
  ]);
  assert.deepEqual([right, counted], [4, 6]);
});

test("samples without a class are in no cell", () => {
  const { counts, right, counted } = confusionOf(
    new Float32Array([0, 1, -1, NaN]),
    new Float32Array([-1, 1, 0, 1]),
    2,
  );
  assert.deepEqual(counts, [
    [0, 0],
    [0, 1],
  ]);
  assert.deepEqual([right, counted], [1, 1]);
  assert.deepEqual(confusionOf([], [], 2), {
    counts: [
      [0, 0],
      [0, 0],
    ],
    right: 0,
    counted: 0,
  });
});

test("the highest loss comes first, and one that is not a number before it", () => {
  const losses = new Float32Array([0.5, NaN, 3, Infinity, 3, -1]);
  assert.deepEqual(hardestOf(losses), [1, 3, 2, 4, 0, 5]);
  assert.deepEqual(
    hardestOf(losses, (at) => at % 2 === 0),
    [2, 4, 0],
  );
  assert.deepEqual(hardestOf(new Float32Array(0)), []);
});

const points = (...values) => new Float32Array(values);

test("axes point the way they did", () => {
  const before = { rows: points(4, 7, 9), points: points(1, 2, -3, 1, 2, -3) };
  const flipped = points(-1, 2, 3, 1, -2, -3);
  assert.deepEqual(aligned(flipped, before.rows, before), before.points);
  assert.deepEqual(aligned(before.points, before.rows, before), before.points);
  // Only the samples of both are compared.
  assert.deepEqual(aligned(points(3, 1, 50, 50), points(7, 8), before), points(-3, 1, -50, 50));
  assert.deepEqual(aligned(flipped, before.rows, null), flipped);
});

test("the square has room for all points, also for a single place", () => {
  const { left, bottom, size } = squareAround(points(-1, 0, 3, 1));
  assert.ok(left < -1 && left + size > 3 && bottom < 0 && bottom + size > 1);
  assert.ok(Math.abs(left + size / 2 - 1) < 1e-9);
  assert.ok(squareAround(points(5, 5, 5, 5)).size > 0);
});

test("the pointer reaches the nearest point, and nothing far away", () => {
  const three = points(0, 0, 1, 1, 5, 5);
  assert.equal(nearest(three, 0.9, 0.8, 1), 1);
  assert.equal(nearest(three, 3, 3, 1), -1);
});

test("arrow keys go to the next point along an axis, and stop at the last", () => {
  const three = points(0, 9, 2, 1, 1, 5);
  assert.equal(movedTo(three, 0, "ArrowRight"), 2);
  assert.equal(movedTo(three, 1, "ArrowRight"), 1);
  assert.equal(movedTo(three, 1, "ArrowLeft"), 2);
  assert.equal(movedTo(three, 1, "ArrowUp"), 2);
  assert.equal(movedTo(three, -1, "ArrowUp"), 2);
  assert.equal(movedTo(three, 1, "Enter"), null);
  assert.equal(movedTo(three, 1, "constructor"), null);
});
