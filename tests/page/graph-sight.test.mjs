import assert from "node:assert/strict";
import test from "node:test";
import {
  arrowsInSight,
  clustersInSight,
  grown,
  itemNear,
  itemsInSight,
} from "../../static/js/panels/graph/graph-sight.js";

/** A square of items, 100 apart. */
const SIDE = 20;
const items = Array.from({ length: SIDE * SIDE }, (_, at) => ({ id: `n${at}` }));
const boxes = Object.fromEntries(
  items.map(({ id }, at) => [
    id,
    { x: 100 * (at % SIDE), y: 100 * Math.floor(at / SIDE), width: 60, height: 40 },
  ]),
);
const view = { x: 0, y: 0, width: 400, height: 300, scale: 1 };

test("the items in sight are drawn, and some beyond the edges", () => {
  const seen = itemsInSight(items, boxes, view);
  // x from -60 to 460 and y from -45 to 345: 5 columns and 4 rows.
  assert.equal(seen.size, 20);
  assert.ok(seen.has("n0") && seen.has("n4") && seen.has(`n${3 * SIDE + 4}`) && !seen.has("n5"));
});

test("many small items are outlines, but never ones that can be read", () => {
  assert.equal(
    itemsInSight(items, boxes, { ...view, width: 2000, height: 2000, scale: 0.2 }),
    null,
  );
  assert.equal(
    itemsInSight(items, boxes, { ...view, width: 2000, height: 2000, scale: 1 }).size,
    items.length,
  );
  assert.equal(itemsInSight(items, boxes, { ...view, scale: 0.2 }).size, 20);
});

test("a drawing grows by a few items and loses hidden ones at once", () => {
  const [wanted, old] = [new Set(["a", "b", "c", "d"]), new Set(["b", "x"])];
  assert.deepEqual([...grown(old, wanted, 2)].sort(), ["a", "b", "c"]);
  assert.deepEqual(grown(grown(old, wanted, 2), wanted, 2), new Set(["b", "a", "c", "d"]));
});

test("arrows at drawn items are drawn one by one, others that pass as one path", () => {
  const arrows = [
    ["n0", "n1"],
    ["n1", "n399"],
    ["n60", "n79"],
    ["n380", "n399"],
  ].map(([from, to]) => ({ from, to }));
  const layout = { boxes, paths: ["A", "B", "C", "D"] };
  const middle = { x: 500, y: 250, width: 200, height: 100, scale: 1 };
  const seen = itemsInSight(items, boxes, middle);
  assert.deepEqual(arrowsInSight({ arrows }, layout, new Set(["n0", "n1"]), view), {
    near: [0, 1],
    passing: "C",
  });
  // The box around the second contains the view; the third leads through it.
  assert.deepEqual(arrowsInSight({ arrows }, layout, seen, middle), { near: [], passing: "BC" });
});

test("frames that contain the view are in sight", () => {
  const frames = { clusters: [{ id: "wide" }, { id: "far" }] };
  const around = {
    wide: { x: 0, y: 0, width: 9000, height: 9000 },
    far: { x: 5000, y: 0, width: 10, height: 10 },
  };
  assert.deepEqual(clustersInSight(frames, around, view), [{ id: "wide" }]);
});

test("a place belongs to the nearest item within reach", () => {
  const near = (x, y, reach) => itemNear(items, boxes, { x, y }, reach)?.id;
  assert.equal(near(120, 90, 0), `n${SIDE + 1}`);
  assert.equal(near(145, 100, 0), undefined);
  assert.equal(near(145, 100, 20), `n${SIDE + 1}`);
  assert.equal(near(155, 100, 20), `n${SIDE + 2}`);
});
