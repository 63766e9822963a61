/** The part of a large drawing that is in sight: only that is drawn. */

/**
 * @typedef {import("./graph-model.js").Picture} Picture
 * @typedef {import("./graph-model.js").Item} Item
 * @typedef {import("./graph-layout.js").Box} Box
 * @typedef {import("./graph-layout.js").Layout} Layout
 * @typedef {import("./viewport.js").Sight} Sight
 * @typedef {{left: number, right: number, top: number, bottom: number}} Sides
 */

/** Drawings with more items are drawn in part. */
export const MOST_DRAWN = 300;
/** Below the scale that is readable, more items than these are drawn as outlines, without texts. */
const MOST_SMALL = 100;
/** The part of the view beyond its edges that is drawn, too: the view is moved before the rest follows. */
const BEYOND = 0.15;

/** @param {Box} box @returns {Sides} */
const sides = ({ x, y, width, height }) => ({
  left: x - width / 2,
  right: x + width / 2,
  top: y - height / 2,
  bottom: y + height / 2,
});

/** @param {Sides} a @param {Sides} b */
const meet = (a, b) =>
  a.left <= b.right && a.right >= b.left && a.top <= b.bottom && a.bottom >= b.top;

/** @param {Sight} sight @returns {Sides} */
const around = ({ x, y, width, height }) => ({
  left: x - BEYOND * width,
  right: x + (1 + BEYOND) * width,
  top: y - BEYOND * height,
  bottom: y + (1 + BEYOND) * height,
});

/**
 * The ids of the items in sight, or `null` if they are so many and so small that outlines show as much.
 * @param {readonly Item[]} items @param {Readonly<Record<string, Box>>} boxes @param {Sight} sight
 * @returns {Set<string> | null}
 */
export function itemsInSight(items, boxes, sight) {
  const view = around(sight);
  const seen = items.filter(({ id }) => meet(sides(boxes[id]), view)).map(({ id }) => id);
  return sight.scale < 1 && seen.length > MOST_SMALL ? null : new Set(seen);
}

/**
 * Those of `wanted` that are drawn already, and at most `most` others: drawing many at once would hold the page up.
 * @param {ReadonlySet<string>} drawn @param {ReadonlySet<string>} wanted @param {number} most
 * @returns {Set<string>}
 */
export function grown(drawn, wanted, most) {
  const next = new Set([...wanted].filter((id) => drawn.has(id)));
  const limit = next.size + most;
  for (const id of wanted) {
    if (next.size >= limit) break;
    next.add(id);
  }
  return next;
}

/**
 * The arrows in sight: the positions of arrows with an end at a drawn item, and all that only pass, as one path.
 * @param {Picture} picture @param {Layout} layout @param {ReadonlySet<string>} drawn @param {Sight} sight
 */
export function arrowsInSight({ arrows }, { boxes, paths }, drawn, sight) {
  const view = around(sight);
  /** @type {number[]} */
  const near = [];
  /** @type {string[]} */
  const passing = [];
  for (const [at, { from, to }] of arrows.entries()) {
    if (drawn.has(from) || drawn.has(to)) near.push(at);
    else if (meet(sides(hull(boxes[from], boxes[to])), view)) passing.push(paths[at]);
  }
  return { near, passing: passing.join("") };
}

/** The frames of scopes in sight. @param {Picture} picture @param {Readonly<Record<string, Box>>} boxes @param {Sight} sight */
export function clustersInSight({ clusters }, boxes, sight) {
  const view = around(sight);
  return clusters.filter(({ id }) => meet(sides(boxes[id]), view));
}

/**
 * The item nearest to a place of the drawing, at most `reach` from it.
 * @param {readonly Item[]} items @param {Readonly<Record<string, Box>>} boxes @param {{x: number, y: number}} place @param {number} reach
 */
export function itemNear(items, boxes, place, reach) {
  /** @type {{item: Item | undefined, distance: number}} */
  let nearest = { item: undefined, distance: reach };
  for (const item of items) {
    const { x, y, width, height } = boxes[item.id];
    const [across, down] = [Math.abs(place.x - x) - width / 2, Math.abs(place.y - y) - height / 2];
    const distance = Math.hypot(Math.max(0, across), Math.max(0, down));
    if (distance <= nearest.distance) nearest = { item, distance };
  }
  return nearest.item;
}

/** The smallest box around two. @param {Box} a @param {Box} b @returns {Box} */
function hull(a, b) {
  const [one, other] = [sides(a), sides(b)];
  const [left, right] = [Math.min(one.left, other.left), Math.max(one.right, other.right)];
  const [top, bottom] = [Math.min(one.top, other.top), Math.max(one.bottom, other.bottom)];
  return {
    x: (left + right) / 2,
    y: (top + bottom) / 2,
    width: right - left,
    height: bottom - top,
  };
}
