/** Calls of a sample are drawn above the middle of those whose values they take, leaves side by side. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { placed } from "../../static/js/panels/inspect/tree-places.js";

/** @param {number[][]} takes of each call; the last one is the result */
function calls(takes) {
  const depths = /** @type {number[]} */ ([]);
  return takes.map((each, at) => {
    depths[at] = Math.max(-1, ...each.map((below) => depths[below])) + 1;
    return { depth: depths[at], kind: 0, takes: each, label: "", result: at === takes.length - 1 };
  });
}

const columns = (takes) => placed(calls(takes)).places.map(({ column }) => column);

test("leaves are in the order in which the result reaches them", () => {
  assert.deepEqual(columns([[], [], [0, 1], [], [2, 3]]), [0, 1, 0.5, 2, 1.25]);
  assert.deepEqual(columns([[], [], [1, 0]]), [1, 0, 0.5]);
  assert.equal(placed(calls([[], [], [0, 1], [], [2, 3]])).columns, 3);
});

test("a value that is taken twice has one place", () => {
  assert.deepEqual(columns([[], [0, 0], [0, 1]]), [0, 0, 0]);
});

test("a long chain, a call that nothing takes, and a tree that was cut have places", () => {
  const chain = Array.from({ length: 5000 }, (_, at) => (at ? [at - 1] : []));
  assert.ok(columns(chain).every((column) => column === 0));
  assert.deepEqual(columns([[], [], [0]]), [0, 1, 0]);
  const cut = calls([[], [], [0, 7], [1, 2]]).map((call) => ({ ...call, result: false }));
  assert.ok(placed(cut).places.every(({ column }) => Number.isFinite(column)));
});
