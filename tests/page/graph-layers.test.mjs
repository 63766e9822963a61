import assert from "node:assert/strict";
import test from "node:test";
import { layers } from "../../static/js/panels/graph/graph-layers.js";
import { picture, scopesOf } from "../../static/js/panels/graph/graph-model.js";

/** A graph of blocks that follow each other, each of two strands of operations, in scopes of ten blocks. */
function blocksOf(count, size) {
  const nodes = [];
  const edges = [];
  const add = (name, ...from) => {
    const scope = name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "";
    nodes.push({
      name,
      op: "add",
      scope,
      phase: "forward",
      device: "cpu:0",
      shape: [4, 4],
      dtype: "float32",
      line: 1,
    });
    edges.push(...from.map((each) => ({ from: each, to: name, output: 0, control: false })));
    return name;
  };
  let end = add("input");
  for (let block = 0; block < count; block += 1) {
    const scope = `stage_${Math.floor(block / 10)}/block_${block}`;
    let [left, right] = [add(`${scope}/left`, end), add(`${scope}/right`, end)];
    for (let at = 0; at < (size - 3) / 2; at += 1) {
      [left, right] = [add(`${scope}/left_${at}`, left), add(`${scope}/right_${at}`, left, right)];
    }
    end = add(`${scope}/sum`, left, right);
  }
  return { name: "g", nodes, edges };
}

const laidOut = (graph, open, direction = "LR") => {
  const drawn = picture(graph, open);
  return { drawn, layout: layers({ ...drawn, direction }) };
};
const sides = ({ x, y, width, height }) => ({
  left: x - width / 2,
  right: x + width / 2,
  top: y - height / 2,
  bottom: y + height / 2,
});

function overlap(a, b) {
  const [one, other] = [sides(a), sides(b)];
  return (
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.01 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.01
  );
}

for (const direction of ["LR", "TB"]) {
  test(`no box covers another, and frames hold what is theirs: ${direction}`, () => {
    const graph = blocksOf(30, 21);
    const { drawn, layout } = laidOut(graph, new Set(scopesOf(graph)), direction);
    assert.equal(drawn.items.length, graph.nodes.length);
    const all = [...drawn.clusters, ...drawn.items];
    const whole = { left: 0, top: 0, right: layout.width, bottom: layout.height };
    for (const { id, parent } of all) {
      const [box, frame] = [sides(layout.boxes[id]), parent ? sides(layout.boxes[parent]) : whole];
      assert.ok(
        box.left >= frame.left &&
          box.right <= frame.right &&
          box.top >= frame.top &&
          box.bottom <= frame.bottom,
        id,
      );
    }
    for (const [at, one] of all.entries()) {
      for (const other of all.slice(at + 1)) {
        if (one.parent === other.parent)
          assert.ok(
            !overlap(layout.boxes[one.id], layout.boxes[other.id]),
            `${one.id} ${other.id}`,
          );
      }
    }
  });
}

test("arrows lead on within a row, from edge to edge", () => {
  const graph = blocksOf(1, 9);
  const { drawn, layout } = laidOut(graph, new Set(scopesOf(graph)));
  for (const [at, { from, to }] of drawn.arrows.entries()) {
    const [start, end] = [sides(layout.boxes[from]), sides(layout.boxes[to])];
    assert.ok(start.right < end.left, `${from} ${to}`);
    const numbers = layout.paths[at].match(/-?[\d.]+/g).map(Number);
    assert.ok(
      Math.abs(numbers[0] - start.right) < 0.1 && Math.abs(numbers.at(-2) - end.left) < 0.1,
    );
  }
});

test("variables stand before their first use, and many side by side are divided", () => {
  const node = (name, phase = "forward") => ({
    name,
    op: "add",
    scope: "",
    phase,
    device: "cpu:0",
    shape: [1],
    dtype: "float32",
    line: 1,
  });
  const weights = Array.from({ length: 100 }, (_, at) => `w${at}`);
  const graph = {
    name: "g",
    nodes: [...weights.map((name) => node(name, "variable")), node("a"), node("b"), node("c")],
    edges: [
      ["a", "b"],
      ["b", "c"],
      ["w0", "c"],
    ].map(([from, to]) => ({ from, to, output: 0, control: false })),
  };
  const { layout } = laidOut(graph, new Set());
  const { boxes } = layout;
  assert.ok(boxes.w0.x > boxes.a.x && sides(boxes.w0).right < sides(boxes.c).left);
  assert.ok(layout.height < 100 * boxes.w1.height);
});

test("a long chain wraps", () => {
  const graph = blocksOf(100, 21);
  const { layout } = laidOut(graph, new Set(scopesOf(graph)));
  assert.ok(
    layout.width / layout.height > 0.5 && layout.width / layout.height < 6,
    `${layout.width} × ${layout.height}`,
  );
});

test("an empty picture has a size, and 5,000 operations take a moment", () => {
  assert.deepEqual(layers({ items: [], clusters: [], arrows: [], direction: "LR" }).boxes, {});
  const graph = blocksOf(240, 21);
  assert.ok(graph.nodes.length > 5000);
  const drawn = picture(graph, new Set(scopesOf(graph)));
  const began = performance.now();
  layers({ ...drawn, direction: "LR" });
  assert.ok(performance.now() - began < 3000);
});
