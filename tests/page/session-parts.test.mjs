import assert from "node:assert/strict";
import test from "node:test";
import { PARTS } from "../../static/js/session/session-parts.js";
import { SHAPES } from "../../static/js/session/session-shapes.js";
import * as store from "../../static/js/store.js";

const FIT = {
  epochs: 5, steps_per_epoch: 100, total_steps: 500, batch_size: 10, metrics: [], device: "cpu",
  adapter: null, parameters: 3,
}; // prettier-ignore

/** The parts of a run as the page saves them at a step. */
function savedAt(step, began, perEpoch = 100) {
  store.clearShown();
  store.executed.value = { exampleId: "spiral", source: "", began };
  store.runState.value = "running";
  store.fit.value = { ...FIT, steps_per_epoch: perEpoch };
  for (let each = 1; each <= step; each += 1) store.curves.add(each, 1 / each, 0.5);
  if (step > 0) store.showNumbersAt(step, perEpoch);
  return { run: PARTS.run.capture(), curves: structuredClone(PARTS.curves.capture()) };
}

function restored({ run, curves }) {
  store.clearShown();
  assert.ok(SHAPES.run(run) && SHAPES.curves(curves));
  PARTS.run.restore(run);
  PARTS.curves.restore(curves);
  return store.progress.value;
}

test("after a crash the numbers are those of the end of the curves", () => {
  const early = savedAt(0, 7);
  const late = savedAt(240, 7);
  for (const { run } of [early, savedAt(130, 7)]) {
    const { step, epoch, loss, accuracy } = restored({ run, curves: late.curves });
    assert.deepEqual([step, epoch, loss, accuracy], [240, 3, 1 / 240, 0.5]);
  }
  assert.equal(restored(late).step, 240);
});

test("numbers that are newer than the curves stay", () => {
  const early = savedAt(130, 7);
  assert.equal(restored({ run: savedAt(240, 7).run, curves: early.curves }).step, 240);
});

test("the curves of another run change no numbers", () => {
  const before = savedAt(240, 7);
  assert.equal(restored({ run: savedAt(0, 8).run, curves: before.curves }).step, 0);
});

test("a run without epochs of a known length has a finite epoch", () => {
  const late = savedAt(240, 7, 0);
  assert.equal(restored({ run: savedAt(0, 7, 0).run, curves: late.curves }).epoch, 0);
});
