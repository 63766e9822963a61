import assert from "node:assert/strict";
import test from "node:test";
import { census, mainScopes, picture, scopesOf } from "../../static/js/panels/graph/graph-model.js";

const node = (name, phase = "forward") => ({
  name,
  op: "add",
  scope: name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "",
  phase,
  device: "cpu:0",
  shape: [null, 2],
  dtype: "float32",
  line: 1,
});
const edge = (from, to, control = false) => ({ from, to, output: 0, control });

const graph = {
  name: "test",
  nodes: [
    node("x", "input"),
    node("dense/kernel", "variable"),
    node("dense/matmul"),
    node("dense/act/relu"),
    node("dense/act/mask"),
    node("loss/mean"),
  ],
  edges: [
    edge("x", "dense/matmul"),
    edge("dense/kernel", "dense/matmul"),
    edge("dense/matmul", "dense/act/relu"),
    edge("dense/matmul", "dense/act/mask"),
    edge("dense/act/relu", "loss/mean"),
    edge("dense/matmul", "loss/mean", true),
    edge("x", "loss/mean", true),
  ],
};

test("scopes of more than one operation can be folded", () => {
  assert.deepEqual(scopesOf(graph), ["dense", "dense/act"]);
});

test("a scope that holds nearly all nodes is opened", () => {
  assert.deepEqual(mainScopes(graph), []);
  const inner = ["replica_0/a", "replica_0/b", "replica_1/a", "replica_1/b"];
  const nodes = [node("x"), ...inner.map((name) => node(`data_parallel/${name}`))];
  assert.deepEqual(mainScopes({ name: "step", nodes, edges: [] }), ["data_parallel"]);
});

test("folded, a scope is one box, and arrows are joined", () => {
  const { items, clusters, arrows } = picture(graph, new Set());
  assert.deepEqual(
    items.map(({ id }) => id),
    ["x", "scope:dense", "loss/mean"],
  );
  assert.deepEqual(clusters, []);
  assert.deepEqual(arrows, [
    { from: "x", to: "scope:dense", control: false, count: 1 },
    { from: "scope:dense", to: "loss/mean", control: false, count: 2 },
    { from: "x", to: "loss/mean", control: true, count: 1 },
  ]);
});

test("open, a scope is a frame around its operations and inner scopes", () => {
  const { items, clusters } = picture(graph, new Set(["dense"]));
  assert.deepEqual(
    clusters.map(({ id, parent }) => [id, parent]),
    [["scope:dense", null]],
  );
  const inner = items.find(({ id }) => id === "scope:dense/act");
  assert.equal(inner.parent, "scope:dense");
  assert.equal(inner.detail, "2 operations");
  assert.equal(items.find(({ id }) => id === "dense/matmul").parent, "scope:dense");
});

test("an inner scope left open stays hidden in a folded outer one", () => {
  assert.equal(picture(graph, new Set(["dense/act"])).items.length, 3);
});

test("items come in the order in which they compute, variables first", () => {
  const nodes = [
    node("adam/rate", "variable"),
    node("data/x", "variable"),
    node("data/y", "variable"),
    node("train/batch", "input"),
    node("train/loss"),
    node("adam/update", "update"),
  ];
  const { items } = picture({ name: "test", nodes, edges: [] }, new Set());
  assert.deepEqual(
    items.map(({ id }) => id),
    ["scope:data", "scope:train", "scope:adam"],
  );
});

test("a scope is named after its result, not after its contents", () => {
  const nodes = [node("a", "variable"), node("b", "variable"), node("c", "forward")];
  assert.deepEqual(
    census(nodes, ({ phase }) => phase),
    [
      ["forward", 1],
      ["variable", 2],
    ],
  );
});
