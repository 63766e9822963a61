import assert from "node:assert/strict";
import test from "node:test";
import { picture } from "../../static/js/panels/graph/graph-model.js";
import { partsOf } from "../../static/js/panels/graph/graph-parts.js";

const graphOf = (names, edges) => ({
  name: "g",
  nodes: names.map((name) => ({
    name,
    op: "add",
    scope: name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "",
    phase: "forward",
    device: "cpu:0",
    shape: [1],
    dtype: "float32",
    line: 1,
  })),
  edges: edges.map(([from, to]) => ({ from, to, output: 0, control: false })),
});
const scopeOf = (graph) => new Map(graph.nodes.map(({ name, scope }) => [name, scope || name]));

/** Whether each arrow leads on: none goes around. */
function hasCycle(arrows) {
  const after = new Map(
    arrows.map(({ from }) => [from, arrows.filter((each) => each.from === from)]),
  );
  const state = new Map();
  const visit = (id) => {
    if (state.get(id) === "open") return true;
    if (state.get(id) === "done") return false;
    state.set(id, "open");
    const around = (after.get(id) ?? []).some(({ to }) => visit(to));
    state.set(id, "done");
    return around;
  };
  return arrows.some(({ from }) => visit(from));
}

test("the batch and the loss of a step are two boxes", () => {
  const graph = graphOf(
    [
      "train/batch",
      "train/labels",
      "dense/matmul",
      "dense/relu",
      "train/loss",
      "train/mean",
      "adam/rate",
      "adam/step",
    ],
    [
      ["train/batch", "dense/matmul"],
      ["dense/matmul", "dense/relu"],
      ["dense/relu", "train/loss"],
      ["train/labels", "train/loss"],
      ["train/loss", "train/mean"],
      ["train/mean", "adam/step"],
      ["adam/rate", "adam/step"],
    ],
  );
  const { items, arrows } = picture(graph, new Set());
  assert.deepEqual(
    items.map(({ id }) => id),
    ["scope:train", "scope:dense", "scope:train#2", "scope:adam"],
  );
  assert.deepEqual(
    items.map(({ label }) => label),
    ["train 1/2", "dense", "train 2/2", "adam"],
  );
  assert.equal(hasCycle(arrows), false);
  for (const node of graph.nodes.slice(0, 2)) node.phase = "input";
  assert.deepEqual(
    picture(graph, new Set()).items.map(({ label }) => label),
    ["train: batch", "dense", "train: loss", "adam"],
  );
});

test("a scope that makes no loop stays whole", () => {
  const graph = graphOf(
    ["a/x", "a/y", "b/x", "b/y"],
    [
      ["a/x", "b/x"],
      ["a/y", "b/y"],
      ["b/x", "b/y"],
    ],
  );
  assert.deepEqual([...partsOf(graph, scopeOf(graph)).values()], [0, 0, 0, 0]);
});

test("two scopes that feed each other without a common path are divided, too", () => {
  const graph = graphOf(
    ["a/x", "b/x", "b/y", "a/y"],
    [
      ["a/x", "b/x"],
      ["b/y", "a/y"],
    ],
  );
  assert.equal(hasCycle(picture(graph, new Set()).arrows), false);
});

test("no drawing of a random acyclic graph goes around, and 5,000 operations are drawn", () => {
  let seed = 7;
  const random = (below) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (const [size, scopes] of [
    [12, 3],
    [40, 5],
    [200, 12],
    [5000, 40],
  ]) {
    const names = Array.from({ length: size }, (_, at) => `s${random(scopes)}/n${at}`);
    const edges = Array.from({ length: 2 * size }, () => {
      const to = 1 + random(size - 1);
      return [names[random(to)], names[to]];
    });
    const { items, arrows } = picture(graphOf(names, edges), new Set());
    assert.equal(hasCycle(arrows), false);
    assert.equal(items.flatMap((item) => item.nodes ?? [item.node]).length, size);
  }
});
