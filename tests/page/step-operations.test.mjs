import assert from "node:assert/strict";
import test from "node:test";
import {
  lastOfDevices,
  lightOf,
  lights,
  queueAfter,
  waitingCounts,
} from "../../static/js/panels/graph/step-operations.js";

/** Two inputs, read by a product on another device that is fused with its bias. */
const operation = (/** @type {object} */ fields) => ({
  op: "add",
  device: "cpu:0",
  members: [],
  waits_for: 0,
  ready: [],
  released: [],
  inputs: [],
  outputs: [],
  dispatch: null,
  kernel: "",
  ...fields,
});
const OPERATIONS = /** @type {import("../../static/engine/messages.js").Operation[]} */ ([
  operation({ name: "a", ready: [0, 1], released: [[2, 2, 1]] }),
  operation({ name: "b", ready: [1], released: [[2, 1, 0]] }),
  operation({
    name: "relu",
    device: "gpu:0",
    members: ["matmul", "bias"],
    waits_for: 2,
    ready: [2],
  }),
]);

test("counts fall as operations run", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((done) => waitingCounts(OPERATIONS, done)[2]),
    [2, 1, 0, 0],
  );
  assert.equal(OPERATIONS[2].waits_for, 2);
});

test("the highlighted queue belongs to the next operation", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((done) => queueAfter(OPERATIONS, done)),
    [[0, 1], [1], [2], []],
  );
});

test("each device has its last operation", () => {
  assert.deepEqual(lastOfDevices(OPERATIONS, 2), [
    ["cpu:0", OPERATIONS[1]],
    ["gpu:0", null],
  ]);
  assert.deepEqual(lastOfDevices(OPERATIONS, 3), [
    ["cpu:0", OPERATIONS[1]],
    ["gpu:0", OPERATIONS[2]],
  ]);
});

test("a fused operation lights all of its nodes", () => {
  assert.deepEqual(
    [...lights(OPERATIONS, 0)],
    [
      ["a", "ready"],
      ["b", "ready"],
      ["relu", "waiting"],
      ["matmul", "waiting"],
      ["bias", "waiting"],
    ],
  );
  const lit = lights(OPERATIONS, 3);
  assert.deepEqual(Object.fromEntries(lit), {
    a: "done",
    b: "done",
    relu: "current",
    matmul: "current",
    bias: "current",
  });
  assert.equal(lights(OPERATIONS, 2).get("matmul"), "ready");
});

test("a scope shows the most urgent of its nodes", () => {
  const lit = lights(OPERATIONS, 1);
  assert.equal(lightOf(["a", "b"], lit), "current");
  assert.equal(lightOf(["b", "relu"], lit), "ready");
  assert.equal(lightOf(["relu"], lit), "waiting");
  assert.equal(lightOf(["a", "relu"], lights(OPERATIONS, 2)), "ready");
  assert.equal(lightOf(["constant"], lit), undefined);
});
