import assert from "node:assert/strict";
import { test } from "node:test";
import { paretoFront } from "../../static/js/panels/shrink/front.js";

/** @param {string} name @param {number} gzip @param {number} value @param {"accuracy" | "loss"} [metric] */
const version = (name, gzip, value, metric = "accuracy") => ({ name, gzip, value, metric });
/** @param {any[]} points */
const names = (points) => paretoFront(points).map(({ name }) => name);

test("no version of the front is beaten, and every other one is", () => {
  const points = [
    version("large", 100, 0.9),
    version("worse", 100, 0.8),
    version("small", 50, 0.9),
    version("twin", 50, 0.9),
    version("best", 200, 0.95),
    version("bad", 60, 0.3),
    version("tiny", 10, 0.1),
  ];
  assert.deepEqual(names(points), ["tiny", "small", "twin", "best"]);
});

test("of losses, smaller ones are better", () => {
  const points = [
    version("whole", 100, 0.2, "loss"),
    version("half", 50, 0.2, "loss"),
    version("bad", 60, 0.5, "loss"),
    version("tiny", 10, 0.9, "loss"),
  ];
  assert.deepEqual(names(points), ["tiny", "half"]);
});

test("a version without a number is on no front", () => {
  assert.deepEqual(names([version("lost", 1, NaN, "loss"), version("kept", 2, 1, "loss")]), [
    "kept",
  ]);
  assert.deepEqual(names([]), []);
});
