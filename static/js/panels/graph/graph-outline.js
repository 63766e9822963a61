/** The outline of a drawing: its boxes without texts, and its visible part. */

import { leadingClass } from "./graph-heat.js";
import { census } from "./graph-model.js";

/**
 * @typedef {import("./graph-model.js").Item} Item
 * @typedef {import("./graph-layout.js").Box} Box
 * @typedef {import("./viewport.js").Sight} Sight
 */

/** Pixels of the drawing's margin that may be out of sight when all of it counts as seen. */
const MARGIN = 8;
/** The least of a map's longer and shorter side, of the view, in pixels: a chain of operations is thin. */
const LEAST_SIDE = 30;
/** The largest part of the view that a map takes, along each side, and its largest sides in pixels. */
const SHARE = 0.26;
const MOST = { width: 200, height: 150 };
/** A smaller view, in pixels, has no room for a map. */
const LEAST_VIEW = { width: 260, height: 200 };

/** The class of an item's colour. @param {Item} item @param {import("./graph-items.js").ColourOf} colourOf */
export const colourClass = (item, colourOf) =>
  leadingClass(census(item.kind === "scope" ? item.nodes : [item.node], colourOf));

/**
 * Boxes as SVG path data, by the class of their colour.
 * @template {{id: string}} Boxed
 * @param {readonly Boxed[]} items
 * @param {Readonly<Record<string, Box>>} boxes
 * @param {(item: Boxed) => string} classOf
 * @param {number} [margin] added around each box
 * @returns {Map<string, string>}
 */
export function outlines(items, boxes, classOf, margin = 0) {
  /** @type {Map<string, string[]>} */
  const parts = new Map();
  for (const item of items) {
    const { x, y, ...size } = boxes[item.id];
    const [width, height] = [size.width + 2 * margin, size.height + 2 * margin];
    const colour = classOf(item);
    const corner = `${(x - width / 2).toFixed(1)} ${(y - height / 2).toFixed(1)}`;
    const part = `M${corner}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;
    const known = parts.get(colour);
    if (known) known.push(part);
    else parts.set(colour, [part]);
  }
  return new Map([...parts].map(([colour, each]) => [colour, each.join("")]));
}

/** Whether all of a drawing is in sight. @param {{width: number, height: number}} size @param {Sight} sight */
export function isAllSeen(size, { x, y, width, height, scale }) {
  const slack = MARGIN / Math.max(scale, 1);
  return (
    x <= slack && y <= slack && x + width >= size.width - slack && y + height >= size.height - slack
  );
}

/**
 * The size in pixels of the map of a drawing, or `null` if the view is too small for one.
 * @param {{width: number, height: number}} size of the drawing
 * @param {Sight} sight
 */
export function mapSize(size, sight) {
  const view = { width: sight.width * sight.scale, height: sight.height * sight.scale };
  if (view.width < LEAST_VIEW.width || view.height < LEAST_VIEW.height) return null;
  const most = {
    width: Math.min(MOST.width, SHARE * view.width),
    height: Math.min(MOST.height, SHARE * view.height),
  };
  const scale = Math.min(most.width / size.width, most.height / size.height);
  return {
    width: Math.max(LEAST_SIDE, size.width * scale),
    height: Math.max(LEAST_SIDE, size.height * scale),
  };
}

export const CORNERS = /** @type {const} */ ([
  "bottom right",
  "bottom left",
  "top right",
  "top left",
]);
/** @typedef {typeof CORNERS[number]} Corner */

/**
 * The corner of the view in which a map covers no box: the one where it is, if possible, or else the first.
 * @param {Iterable<Box>} boxes
 * @param {Sight} sight
 * @param {{width: number, height: number}} size of the map with its margin, in pixels of the view
 * @param {Corner} now
 * @returns {Corner}
 */
export function freeCorner(boxes, sight, size, now) {
  const width = size.width / sight.scale;
  const height = size.height / sight.scale;
  const free = new Set(CORNERS);
  for (const box of boxes) {
    const left = box.x - box.width / 2 < sight.x + width && box.x + box.width / 2 > sight.x;
    const right =
      box.x + box.width / 2 > sight.x + sight.width - width &&
      box.x - box.width / 2 < sight.x + sight.width;
    const top = box.y - box.height / 2 < sight.y + height && box.y + box.height / 2 > sight.y;
    const bottom =
      box.y + box.height / 2 > sight.y + sight.height - height &&
      box.y - box.height / 2 < sight.y + sight.height;
    if (bottom && right) free.delete("bottom right");
    if (bottom && left) free.delete("bottom left");
    if (top && right) free.delete("top right");
    if (top && left) free.delete("top left");
    if (free.size === 0) return CORNERS[0];
  }
  return free.has(now) ? now : /** @type {Corner} */ (CORNERS.find((each) => free.has(each)));
}
