import assert from "node:assert/strict";
import { test } from "node:test";
import {
  eventOf,
  nodeOf,
  scrollAfterZoom,
  slowest,
} from "../../static/js/panels/graph/execution.js";

/** @param {string} name @param {number} start @param {number} end @param {string[]} nodes */
const event = (name, start, end, nodes = [name]) => ({
  name,
  device: "gpu:0",
  start,
  end,
  kind: "forward",
  bytes: 0,
  nodes,
  kernel: "map",
});
const EVENTS = [
  event("a", 0, 1),
  event("b and 1 more", 1, 4, ["b", "c"]),
  event("d", 4, 4.5),
  event("e", 5, 5.5),
];
const graph = { name: "step", edges: [], nodes: [{ name: "a" }, { name: "c" }] };

test("an event is shown by the first of its nodes that the graph has", () => {
  assert.equal(nodeOf(EVENTS[0], /** @type {any} */ (graph)), "a");
  assert.equal(nodeOf(EVENTS[1], /** @type {any} */ (graph)), "c");
  assert.equal(nodeOf(EVENTS[2], /** @type {any} */ (graph)), null);
  assert.equal(nodeOf(EVENTS[0], null), null);
});

test("a node is shown by the event that computes it", () => {
  const execution = {
    duration: 5.5,
    events: EVENTS,
    left_out: 0,
    clocks: {},
    round_trips: {},
    chrome: "",
  };
  assert.equal(eventOf(execution, "c"), EVENTS[1]);
  assert.equal(eventOf(execution, "missing"), null);
  assert.equal(eventOf(execution, null), null);
  assert.equal(eventOf(null, "a"), null);
});

test("the slowest operations come first, and all shares add up to one", () => {
  const { rows, others } = slowest(EVENTS, 2);
  assert.deepEqual(
    rows.map((row) => row.event.name),
    ["b and 1 more", "a"],
  );
  assert.deepEqual(others, { count: 2, took: 1, share: 0.2 });
  assert.equal(rows[0].share + rows[1].share + (others?.share ?? 0), 1);
  assert.equal(slowest(EVENTS, 4).others, null);
  assert.deepEqual(slowest([], 4), { rows: [], others: null });
});

test("zooming keeps the time under the pointer", () => {
  // At position 300 + 50 of 1000; afterwards at the same share of 2000, still 50 from the left.
  assert.equal(scrollAfterZoom(300, 50, 2), 650);
  assert.equal(scrollAfterZoom(650, 50, 0.5), 300);
  assert.equal(scrollAfterZoom(0, 400, 0.5), 0);
});
