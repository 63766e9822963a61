import assert from "node:assert/strict";
import test from "node:test";
import {
  LEAST,
  UNKNOWN,
  heatClass,
  leadingClass,
  timesOf,
} from "../../static/js/panels/graph/graph-heat.js";

test("operations that share a kernel share its time, and several events add up", () => {
  const events = [
    { nodes: ["a", "b"], start: 0, end: 2 },
    { nodes: ["c"], start: 2, end: 5 },
    { nodes: ["a"], start: 6, end: 7 },
  ];
  assert.deepEqual(
    [...timesOf(events)],
    [
      ["a", 2],
      ["b", 1],
      ["c", 3],
    ],
  );
});

test("times are compared with the slowest operation", () => {
  const times = new Map([
    ["slow", 200],
    ["half", 100],
    ["fifth", 40],
    ["little", 2],
    ["none", 0],
  ]);
  const classes = [...times.keys()].map((name) => heatClass("time", times, name));
  assert.deepEqual(classes, ["heat-4", "heat-4", "heat-3", "heat-1", "heat-0"]);
  assert.equal(heatClass("time", times, "unmeasured"), UNKNOWN);
});

test("values are compared with fixed powers of ten", () => {
  const values = new Map(LEAST.magnitude.map((least) => [String(least), least]));
  assert.deepEqual(
    [...values.keys()].map((name) => heatClass("magnitude", values, name)),
    ["heat-1", "heat-2", "heat-3", "heat-4"],
  );
  assert.equal(heatClass("magnitude", new Map([["overflow", Infinity]]), "overflow"), "heat-4");
});

test("a scope is as warm as its warmest operation", () => {
  assert.equal(
    leadingClass([
      [UNKNOWN, 9],
      ["heat-0", 3],
      ["heat-2", 1],
    ]),
    "heat-2",
  );
  assert.equal(leadingClass([[UNKNOWN, 2]]), UNKNOWN);
  assert.equal(
    leadingClass([
      ["forward", 3],
      ["gradient", 1],
    ]),
    "forward",
  );
});
