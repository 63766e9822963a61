import assert from "node:assert/strict";
import test from "node:test";
import {
  colourClass,
  freeCorner,
  isAllSeen,
  mapSize,
  outlines,
} from "../../static/js/panels/graph/graph-outline.js";
import { within } from "../../static/js/panels/graph/viewport.js";

const node = (id, phase) => ({ id, kind: "node", node: { name: id, phase } });
const boxes = {
  a: { x: 50, y: 20, width: 60, height: 40 },
  b: { x: 50, y: 100, width: 60, height: 40 },
  c: { x: 150, y: 60, width: 20, height: 10 },
};

test("boxes of a colour are one path", () => {
  const items = [node("a", "forward"), node("b", "forward"), node("c", "update")];
  assert.deepEqual(
    [...outlines(items, boxes, ({ node: { phase } }) => phase)],
    [
      ["forward", "M20.0 0.0h60.0v40.0h-60.0zM20.0 80.0h60.0v40.0h-60.0z"],
      ["update", "M140.0 55.0h20.0v10.0h-20.0z"],
    ],
  );
});

test("matches are drawn larger than their boxes", () => {
  assert.deepEqual(
    [...outlines([{ id: "c" }], boxes, () => "marked", 5)],
    [["marked", "M135.0 50.0h30.0v20.0h-30.0z"]],
  );
});

test("a folded scope has the colour of its box", () => {
  const scope = {
    id: "a",
    kind: "scope",
    nodes: [{ phase: "variable" }, { phase: "variable" }, { phase: "gradient" }],
  };
  assert.equal(
    colourClass(scope, ({ phase }) => phase),
    "gradient",
  );
});

test("a drawing counts as visible when only its margin is outside", () => {
  const size = { width: 400, height: 300 };
  assert.ok(isAllSeen(size, { x: 0, y: 0, width: 400, height: 300, scale: 1 }));
  assert.ok(isAllSeen(size, { x: 6, y: -20, width: 390, height: 400, scale: 1 }));
  assert.ok(!isAllSeen(size, { x: 30, y: 0, width: 400, height: 300, scale: 1 }));
  assert.ok(!isAllSeen(size, { x: 0, y: 0, width: 400, height: 150, scale: 2 }));
});

test("a map keeps the proportions of a drawing, and a chain of operations is not a thread", () => {
  const sight = { x: 0, y: 0, width: 1000, height: 800, scale: 1 };
  const { width, height } = mapSize({ width: 2000, height: 1500 }, sight) ?? {};
  assert.ok(Math.abs(width / height - 4 / 3) < 1e-9 && width <= 260 && height <= 208);
  assert.equal(mapSize({ width: 100, height: 100_000 }, sight)?.width, 30);
  // In pixels of the view, whatever the scale.
  assert.deepEqual(
    mapSize({ width: 2000, height: 1500 }, { ...sight, width: 500, height: 400, scale: 2 }),
    { width, height },
  );
  assert.equal(mapSize({ width: 2000, height: 1500 }, { ...sight, width: 200, height: 800 }), null);
});

test("the view stays within the drawing, or has it in its middle", () => {
  const size = { width: 1000, height: 1000 };
  assert.deepEqual(within({ x: -50, y: 990 }, size, { width: 200, height: 400 }), {
    x: 100,
    y: 800,
  });
  assert.deepEqual(within({ x: 300, y: 500 }, size, { width: 200, height: 400 }), {
    x: 300,
    y: 500,
  });
  assert.deepEqual(within({ x: 300, y: 500 }, size, { width: 1200, height: 400 }), {
    x: 500,
    y: 500,
  });
});

test("the map stands in a corner without operations, and stays there as long as it can", () => {
  const sight = { x: 0, y: 0, width: 400, height: 200, scale: 1 };
  const size = { width: 100, height: 50 };
  const box = (x, y) => ({ x, y, width: 40, height: 20 });
  const corner = (boxes, now = "bottom right") => freeCorner(boxes, sight, size, now);
  assert.equal(corner([]), "bottom right");
  assert.equal(corner([box(200, 100)]), "bottom right");
  assert.equal(corner([box(380, 190)]), "bottom left");
  assert.equal(corner([box(319, 159)]), "bottom left"); // it reaches into the corner by its edge
  assert.equal(corner([box(380, 190), box(20, 190)]), "top right");
  assert.equal(corner([box(380, 190), box(20, 190), box(380, 10)]), "top left");
  assert.equal(
    corner([box(380, 190), box(20, 190), box(380, 10), box(20, 10)], "top left"),
    "bottom right",
  );
  assert.equal(corner([box(380, 190)], "top left"), "top left");
  assert.equal(corner([box(1000, 190), box(380, 900)]), "bottom right"); // out of sight
  assert.equal(
    freeCorner([box(150, 75)], { ...sight, width: 200, height: 100, scale: 2 }, size, "top left"),
    "top left",
  );
});
