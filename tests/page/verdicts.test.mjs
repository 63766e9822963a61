import assert from "node:assert/strict";
import test from "node:test";
import { smoothed } from "../../static/js/pictures/curves.js";
import { sureness } from "../../static/js/panels/watch/digit-verdict.js";
import { divergenceOf } from "../../static/js/training/divergence.js";

/** @param {number[]} losses */
const judged = (losses) => divergenceOf(losses, losses, losses.at(-1) ?? null);

test("a loss that ends far above its beginning has diverged", () => {
  assert.deepEqual(judged([2.3, 2.4, 2.2, 5, 1e4, 1e19]), { from: 2.4, to: 1e19 });
  assert.deepEqual(judged([2.3, 2.3, 2.3, Infinity]), { from: 2.3, to: Infinity });
});

test("a loss that falls, stays, wobbles or has one outlier has not", () => {
  assert.equal(judged([2.3, 1, 0.5, 0.1, 0.05]), null);
  assert.equal(judged([0.7, 0.7, 0.9, 0.6, 1.4]), null);
  assert.equal(divergenceOf([1, 1, 1, 1, 1], [1, 1, 1, 1, 1.1], 90), null);
  assert.equal(judged([-5, -6, -7]), null);
  assert.equal(judged([]), null);
});

test("a first step that is an outlier does not count", () => {
  assert.deepEqual(judged([900, 2, 2, 2, 2, 2, 1e6]), { from: 2, to: 1e6 });
});

test("the words fit the probability", () => {
  const chances = (/** @type {number} */ best) => [best, 1 - best];
  assert.equal(sureness(chances(0.9), 0), "It is a");
  assert.equal(sureness(chances(0.45), 0), "Perhaps a");
  assert.equal(sureness([0.1, 0.138], 1), "Not sure: perhaps a");
  assert.equal(sureness([0, 0, 0, 0, 0, 0, 0, 0, 1], 8), "It is an");
  assert.equal(sureness(null, null), "Prediction");
});

test("smoothing keeps constants and gaps, and weighs the past", () => {
  assert.deepEqual(
    smoothed([3, null, 3], 0.9).map((each) => each && Math.round(each * 1e6) / 1e6),
    [3, null, 3],
  );
  assert.deepEqual(smoothed([1, 2, 3], 0), [1, 2, 3]);
  const [, second] = smoothed([0, ...Array.from({ length: 20_000 }, () => 1)], 0.5);
  assert.ok(Math.abs(/** @type {number} */ (second) - 2 / 3) < 1e-3, "in a long run");
});
