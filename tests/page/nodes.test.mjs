/** The drawing of a graph: places of nodes, what is in sight, and what arrives at a node. */

import assert from "node:assert/strict";
import test from "node:test";
import * as forces from "d3-force";
import { settled } from "../../static/js/panels/watch/nodes-forces.js";
import {
  answerOf,
  arriving,
  graphOf,
  neighboursOf,
  strength,
} from "../../static/js/panels/watch/nodes-model.js";
import {
  nodeAfter,
  nodeAt,
  showing,
  whole,
  zoomed,
} from "../../static/js/panels/watch/nodes-sight.js";

const bytes = (array) => new Uint8Array(array.buffer);

/** Two rings of ten nodes, with one line between them. */
function rings() {
  const pairs = [[0, 10]];
  for (const first of [0, 10])
    for (let at = 0; at < 10; at += 1) {
      for (const step of [1, 2]) pairs.push([first + at, first + ((at + step) % 10)]);
    }
  return Int32Array.from(pairs.flat());
}

const distance = (points, one, other) =>
  Math.hypot(points[2 * one] - points[2 * other], points[2 * one + 1] - points[2 * other + 1]);

test("neighbours lie near each other, and the same graph lies the same", () => {
  const question = { nodes: 20, pairs: rings(), start: null };
  let steps = 0;
  const points = settled(forces, question, () => (steps += 1));
  assert.ok(steps >= 100);
  assert.deepEqual(settled(forces, question), points);
  const all = Array.from({ length: 20 }, (_, at) => at);
  const mean = (pairs) =>
    pairs.reduce((sum, [a, b]) => sum + distance(points, a, b), 0) / pairs.length;
  const within = all.slice(1, 10).map((at) => [at, (at + 1) % 10]);
  const between = all.slice(0, 10).flatMap((a) => all.slice(10).map((b) => [a, b]));
  assert.ok(mean(within) < 0.5 * mean(between));
  for (const a of all) for (const b of all.slice(a + 1)) assert.ok(distance(points, a, b) > 4);
});

test("a layout that begins at the places of an earlier one stays near them", () => {
  const before = settled(forces, { nodes: 20, pairs: rings(), start: null });
  const after = settled(forces, { nodes: 20, pairs: rings(), start: before });
  const moved = before.map((each, at) => Math.abs(each - after[at]));
  assert.ok(Math.max(...moved) < 30, `${Math.max(...moved)}`);
});

test("parts without lines, and a graph of one node, have finite places", () => {
  for (const nodes of [0, 1, 7]) {
    const points = settled(forces, { nodes, pairs: new Int32Array(0), start: null });
    assert.equal(points.length, 2 * nodes);
    assert.ok(points.every(Number.isFinite));
  }
});

const SQUARE = Float32Array.from([0, 0, 100, 0, 100, 100, 0, 100]);
const SIZE = { width: 400, height: 300 };

test("the whole drawing is in sight, within the margins", () => {
  const sight = whole(SQUARE, SIZE);
  for (let at = 0; at < SQUARE.length; at += 2) {
    const [x, y] = [sight.x + sight.scale * SQUARE[at], sight.y + sight.scale * SQUARE[at + 1]];
    assert.ok(x >= 15 && x <= 385 && y >= 15 && y <= 285, `${x}, ${y}`);
  }
  for (const points of [new Float32Array(0), Float32Array.of(5, 5)]) {
    const { x, y, scale } = whole(points, SIZE);
    assert.ok([x, y, scale].every(Number.isFinite) && scale > 0);
  }
});

test("a zoom leaves the place under the pointer where it is, within bounds", () => {
  const sight = whole(SQUARE, SIZE);
  const about = { x: 120, y: 80 };
  const closer = zoomed(sight, 1.5, about, sight.scale);
  assert.equal(closer.scale, 1.5 * sight.scale);
  const before = (about.x - sight.x) / sight.scale;
  assert.ok(Math.abs((about.x - closer.x) / closer.scale - before) < 1e-9);
  assert.equal(zoomed(sight, 1e9, about, sight.scale).scale, 12 * sight.scale);
  assert.equal(zoomed(sight, 1e-9, about, sight.scale).scale, sight.scale / 2);
});

test("a node out of sight comes into it, one in sight moves nothing", () => {
  const sight = whole(SQUARE, SIZE);
  assert.deepEqual(showing(sight, 50, 50, SIZE), sight);
  const moved = showing({ x: -900, y: 40, scale: 1 }, 0, 0, SIZE);
  assert.ok(moved.x >= 0 && moved.x <= 400);
});

test("the pointer means the nearest node within its reach", () => {
  const sight = { x: 10, y: 10, scale: 2 };
  assert.equal(nodeAt(SQUARE, sight, 209, 13, 12), 1);
  assert.equal(nodeAt(SQUARE, sight, 100, 100, 12), -1);
});

test("arrow keys lead to a neighbour in their direction, and to no other node", () => {
  const neighbours = { 0: [1, 3], 1: [0], 3: [0], 2: [] };
  const after = (key, from) => nodeAfter(key, from, SQUARE, neighbours[from] ?? []);
  assert.equal(after("ArrowRight", 0), 1);
  assert.equal(after("ArrowDown", 0), 3);
  assert.equal(after("ArrowLeft", 0), 0);
  assert.equal(after("ArrowDown", 1), 1); // 2 is below it, but no neighbour
  assert.equal(after("ArrowUp", -1), 0);
  assert.deepEqual([after("Home", 2), after("End", 0)], [0, 3]);
  assert.deepEqual([after("PageDown", 3), after("PageUp", 0), after("PageDown", -1)], [3, 0, 0]);
  assert.equal(after("a", 0), null);
  assert.equal(nodeAfter("Home", -1, new Float32Array(0), []), null);
});

/** A path 0 - 1 - 2, of which the first line is an edge in both directions and the second leads to 2. */
function path() {
  const data = {
    numbers: bytes(Int32Array.of(7, 8, 9)),
    pairs: bytes(Int32Array.of(0, 1, 1, 2)),
    labels: bytes(Int32Array.of(0, 1, 1)),
    trains: Uint8Array.of(1, 0, 0),
    classes: 2,
    total: 3,
    total_lines: 2,
    class_names: [],
    names: [],
    messages: [],
  };
  const messages = {
    layer: "gat_conv_1",
    weights: bytes(Float32Array.of(0.25, 0.5, 0.75, NaN)),
    own: bytes(Float32Array.of(0.25, 0.75, 0.5)),
  };
  const view = {
    shows: "nodes",
    version: 1,
    seconds: 0,
    data,
    predicted: bytes(Int32Array.of(0, 0, -1)),
    chances: null,
    attention: [messages],
    training: { right: 1, all: 1 },
    others: { right: 0, all: 2 },
  };
  return { graph: graphOf(data), answer: answerOf(view) };
}

test("what arrives at a node has the weights of the edges that lead to it", () => {
  const { graph, answer } = path();
  const [messages] = answer.messages;
  assert.deepEqual([...neighboursOf(graph, 1)].sort(), [0, 2]);
  assert.deepEqual([...neighboursOf(graph, -1)], []);
  assert.deepEqual(arriving(graph, 0, messages), [{ node: 1, weight: 0.75 }]);
  assert.deepEqual(arriving(graph, 1, messages), [{ node: 0, weight: 0.25 }]); // none from 2
  assert.deepEqual(arriving(graph, 2, messages), [{ node: 1, weight: 0.5 }]);
  assert.deepEqual(
    arriving(graph, 1, null).map(({ node }) => node),
    [0, 2],
  );
  assert.equal(strength(messages, 0, 2), 1); // the heavier direction is the heaviest of all
  assert.ok(Math.abs(strength(messages, 1, 2) - 2 / 3) < 1e-6);
});
