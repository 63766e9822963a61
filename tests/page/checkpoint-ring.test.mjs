import assert from "node:assert/strict";
import test from "node:test";
import {
  MOST,
  MOST_BYTES,
  lossAt,
  places,
  upTo,
  withCheckpoint,
} from "../../static/js/session/checkpoint-ring.js";
import { Curves } from "../../static/js/pictures/curves.js";
import { changesSince } from "../../static/js/panels/runs/runs.js";

const checkpoint = (step, size = 10) => ({ bytes: { length: size }, step });
const ringOf = (steps, size) =>
  steps.reduce((ring, step) => withCheckpoint(ring, checkpoint(step, size)), []);
const stepsOf = (ring) => ring.map(({ step }) => step);
const upToStep = (last, stride = 1) =>
  Array.from({ length: Math.floor(last / stride) + 1 }, (_, index) => index * stride);

test("a ring is bounded, and spread over the whole run", () => {
  for (const last of [23, 100, 1000, 5000]) {
    const steps = stepsOf(ringOf(upToStep(last)));
    assert.ok(steps.length <= MOST);
    assert.deepEqual([steps[0], steps.at(-1)], [0, last]);
    const gaps = steps.slice(1).map((step, index) => step - steps[index]);
    assert.ok(Math.max(...gaps) <= Math.max(1, (4 * last) / MOST), `${last}: ${steps}`);
  }
});

test("checkpoints that came often at first are spread as well", () => {
  const steps = [0];
  for (let step = 1; step < 100_000; step *= 1.07) steps.push(Math.ceil(step) + steps.length);
  const kept = stepsOf(ringOf(steps));
  assert.equal(kept.length, MOST);
  const gaps = kept.slice(1).map((step, index) => step - kept[index]);
  assert.ok(Math.max(...gaps) <= (4 * kept.at(-1)) / MOST, String(kept));
});

test("large checkpoints are fewer", () => {
  const size = MOST_BYTES / 8;
  const kept = ringOf(upToStep(50), size);
  assert.equal(kept.length, 8);
  assert.deepEqual([kept[0].step, kept.at(-1).step], [0, 50]);
  assert.deepEqual(stepsOf(ringOf(upToStep(5), MOST_BYTES / 2)), [0, 5]);
  assert.deepEqual(stepsOf(ringOf(upToStep(5), MOST_BYTES / 2 + 1)), [5]);
  assert.deepEqual(stepsOf(ringOf(upToStep(5), MOST_BYTES + 1)), [5], "the last is kept anyway");
});

test("checkpoints of an abandoned course are forgotten", () => {
  const ring = ringOf([0, 10, 20, 30]);
  assert.deepEqual(stepsOf(upTo(ring, 20)), [0, 10, 20]);
  assert.deepEqual(stepsOf(withCheckpoint(ring, checkpoint(15))), [0, 10, 15]);
  const again = checkpoint(30);
  assert.equal(withCheckpoint(ring, again).at(-1), again);
  assert.equal(withCheckpoint(ring, again).length, 4);
});

test("the slider ends at the end of the curve", () => {
  const ring = ringOf([0, 10, 20]);
  const at = (end) => places(ring, end).map((each) => each?.step ?? null);
  assert.deepEqual(at(25), [0, 10, 20, null]);
  assert.deepEqual(at(20), [0, 10, null], "the checkpoint of the end is the end");
  assert.deepEqual(at(0), [null]);
});

test("the loss of a step matches its curve", () => {
  const curves = new Curves();
  for (const step of [1, 2, 3, 4]) curves.add(step, step === 3 ? NaN : step, null);
  assert.equal(lossAt(curves, 0), null);
  assert.equal(lossAt(curves, 1), 1);
  assert.equal(lossAt(curves, 3), lossAt(curves, 2));
  assert.equal(lossAt(curves, 99), curves.series.trendLoss[3]);
});

test("a branch names its origin", () => {
  const run = (fields) => ({
    number: 1,
    exampleId: "a",
    title: "A",
    code: "x = 1\n",
    device: "cpu",
    lab: null,
    ...fields,
  });
  assert.deepEqual(changesSince(undefined, run({ branch: { number: 3, step: 412 } })), [
    "branch of run 3 at step 412",
  ]);
  const changed = run({ branch: { number: 0, step: 1000 }, code: "x = 2\n" });
  assert.deepEqual(changesSince(run(), changed), ["branch at step 1,000", "x 1 → 2"]);
});
