import assert from "node:assert/strict";
import test from "node:test";
import { FRAME_MS } from "../../static/js/state/frame-scheduler.js";
import { Curves, smoothed } from "../../static/js/pictures/curves.js";
import { redrawAfter } from "../../static/js/training/use-training.js";

test("a short run keeps every point", () => {
  const curves = new Curves();
  for (let step = 1; step <= 10; step += 1) curves.add(step, 1 / step, step / 10);
  assert.deepEqual(curves.steps, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.equal(curves.series.loss[3], 0.25);
  assert.equal(curves.series.accuracy[9], 1);
});

test("a long run is joined to a few thousand points, in order, with its mean kept", () => {
  const curves = new Curves();
  const steps = 100_000;
  for (let step = 1; step <= steps; step += 1) curves.add(step, step % 2, null);
  assert.ok(curves.steps.length > 1000 && curves.steps.length <= 3000, String(curves.steps.length));
  assert.ok(curves.steps.every((step, index) => index === 0 || step > curves.steps[index - 1]));
  assert.equal(curves.steps.at(-1), steps);
  const whole = curves.series.loss.slice(0, -1);
  assert.ok(whole.every((loss) => Math.abs(loss - 0.5) < 1e-9));
  assert.ok(curves.series.accuracy.every((accuracy) => accuracy === null));
});

test("test results survive the joining of points", () => {
  const curves = new Curves();
  for (let step = 1; step <= 20_000; step += 1) {
    curves.add(step, 1, 0.5);
    if (step % 2000 === 0) curves.mark(step, 0.2, 0.9);
  }
  assert.equal(curves.series.testAccuracy.filter((value) => value !== null).length, 10);
  assert.ok(curves.series.testLoss.every((value) => value === null || value === 0.2));
});

test("ratings survive the joining of points and a session, and go with the steps after them", () => {
  const curves = new Curves();
  for (let step = 1; step <= 20_000; step += 1) {
    curves.add(step, 1, null);
    if (step % 4000 === 0) curves.rate(step, step / 100);
  }
  const values = curves.ratings.map(([, elo]) => elo);
  assert.deepEqual(values, [40, 80, 120, 160, 200]);
  const loaded = new Curves();
  loaded.load(curves.save());
  assert.deepEqual(loaded.ratings, curves.ratings);
  loaded.rewind(9000);
  assert.deepEqual(loaded.ratings, curves.ratings.slice(0, 2));
});

test("curves without ratings are saved as they were before there were any", () => {
  const curves = new Curves();
  curves.add(1, 0.5, null);
  const saved = curves.save();
  assert.ok(!("elo" in saved.series));
  const loaded = new Curves();
  loaded.load(saved);
  loaded.rate(1, 12);
  assert.deepEqual(loaded.ratings, [[1, 12]]);
});

test("the trend starts at the first value", () => {
  const curves = new Curves();
  curves.add(1, 2.3, null);
  assert.ok(Math.abs(curves.series.trendLoss[0] - 2.3) < 1e-12);
});

/** The largest number of points by which an average comes later than a falling line. */
const lag = (average) =>
  Math.max(...average.map((value, step) => value - (1 - step / average.length))) * average.length;

test("in a short run the trend and every smoothing follow the loss, and smooth it in a long one", () => {
  for (const count of [10, 40, 120]) {
    const curves = new Curves();
    for (let step = 0; step < count; step += 1) curves.add(step + 1, 1 - step / count, null);
    const { loss, trendLoss } = curves.series;
    for (const average of [
      trendLoss,
      ...[0.5, 0.8, 0.9, 0.95].map((part) => smoothed(loss, part)),
    ]) {
      assert.equal(average[0], 1, "it starts at the first value");
      assert.ok(lag(average) <= 0.08 * count, `${lag(average)} of ${count}`);
    }
  }
  const noise = Array.from({ length: 3000 }, (_, step) => (step % 2 ? 1 : -1));
  const last = (part) => Math.abs(smoothed(noise, part).at(-1));
  const rough = [0, 0.5, 0.8, 0.9, 0.95].map(last);
  assert.deepEqual(
    [...rough].sort((a, b) => b - a),
    rough,
    "more is smoother",
  );
  assert.equal(rough[0], 1);
  assert.ok(rough[4] < 0.04);
  const few = [0.5, 0.8, 0.9, 0.95].map((part) =>
    Math.abs(smoothed(noise.slice(0, 60), part).at(-1)),
  );
  assert.ok(
    few.every((value, at) => at === 0 || value < few[at - 1]),
    "also in a short run",
  );
});

test("values that are not numbers leave a gap", () => {
  const curves = new Curves();
  curves.add(1, NaN, null);
  curves.add(2, Infinity, null);
  assert.deepEqual(curves.series.loss, [null, null]);
});

test("a curve is drawn again when it has grown, at least once and at most three times a second", () => {
  assert.ok(redrawAfter(0) > FRAME_MS && redrawAfter(20) < 2 * FRAME_MS, "every other frame");
  assert.equal(redrawAfter(60), 600);
  assert.equal(redrawAfter(10_000), 1000);
});
