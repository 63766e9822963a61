/** What is in sight of a drawing of nodes: its place and scale, and the nodes that a pointer or a key means. */

/** @typedef {{x: number, y: number, scale: number}} Sight a point p is drawn at (x + scale · p.x, y + scale · p.y) */
/** @typedef {{width: number, height: number}} Size in pixels */

/** Pixels around the drawing, and below it, where buttons are. */
const MARGIN = 16;
const BELOW = 46;
/** The least distance of a node that is shown from the edges; less than that of the whole drawing. */
const EDGE = MARGIN - 4;
/** The largest scale of a whole drawing: few nodes are not drawn far apart. */
const LARGEST = 3;
/** How much closer and farther than the whole drawing a visitor may go. */
const CLOSEST = 12;
const FARTHEST = 0.5;

/** The sight of the whole drawing. @param {Float32Array} points (nodes, 2) @param {Size} size @returns {Sight} */
export function whole(points, { width, height }) {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < points.length; at += 2) {
    left = Math.min(left, points[at]);
    right = Math.max(right, points[at]);
    top = Math.min(top, points[at + 1]);
    bottom = Math.max(bottom, points[at + 1]);
  }
  if (!(right >= left)) return { x: width / 2, y: height / 2, scale: 1 };
  const fitting = Math.min(
    (width - 2 * MARGIN) / (right - left || 1),
    (height - MARGIN - BELOW) / (bottom - top || 1),
  );
  const scale = Math.max(Math.min(fitting, LARGEST), 1e-3);
  return {
    x: width / 2 - (scale * (left + right)) / 2,
    y: (height + MARGIN - BELOW) / 2 - (scale * (top + bottom)) / 2,
    scale,
  };
}

/**
 * Zoom about a place of the view, which stays where it is.
 * @param {Sight} sight
 * @param {number} factor
 * @param {{x: number, y: number}} about in pixels
 * @param {number} least the scale of the whole drawing
 * @returns {Sight}
 */
export function zoomed(sight, factor, about, least) {
  const scale = Math.min(CLOSEST * least, Math.max(FARTHEST * least, sight.scale * factor));
  const part = scale / sight.scale;
  return {
    x: about.x - (about.x - sight.x) * part,
    y: about.y - (about.y - sight.y) * part,
    scale,
  };
}

/** The sight moved by as little as shows a point, away from the edges. @param {Sight} sight @param {number} x @param {number} y of the point @param {Size} size @returns {Sight} */
export function showing(sight, x, y, { width, height }) {
  const [across, up] = [sight.x + sight.scale * x, sight.y + sight.scale * y];
  const inside = (/** @type {number} */ at, /** @type {number} */ room) =>
    Math.min(Math.max(at, EDGE), Math.max(room - EDGE, EDGE));
  return {
    ...sight,
    x: sight.x + (inside(across, width) - across),
    y: sight.y + (inside(up, height) - up),
  };
}

/** The node nearest to a place of the view within `reach` pixels; −1 for none. @param {Float32Array} points @param {Sight} sight @param {number} x @param {number} y @param {number} reach */
export function nodeAt(points, sight, x, y, reach) {
  const [across, up] = [(x - sight.x) / sight.scale, (y - sight.y) / sight.scale];
  let best = -1;
  let least = (reach / sight.scale) ** 2;
  for (let at = 0; at < points.length; at += 2) {
    const distance = (points[at] - across) ** 2 + (points[at + 1] - up) ** 2;
    if (distance <= least) {
      best = at / 2;
      least = distance;
    }
  }
  return best;
}

/** @type {Record<string, [number, number]>} */
const DIRECTIONS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/**
 * The node that a key leads to: the neighbour in the direction of an arrow, the first, last, previous or next node;
 * null if the key leads nowhere.
 * @param {string} key
 * @param {number} from −1 for none
 * @param {Float32Array} points
 * @param {ArrayLike<number>} neighbours of the node
 * @returns {number | null}
 */
export function nodeAfter(key, from, points, neighbours) {
  const count = points.length / 2;
  if (count === 0) return null;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (key === "PageDown") return Math.min(from + 1, count - 1);
  if (key === "PageUp") return Math.max(from - 1, 0);
  const direction = DIRECTIONS[key];
  if (!direction) return null;
  if (from < 0) return 0;
  const [dx, dy] = direction;
  let best = from;
  let most = 0.2; // the cosine of the widest angle
  for (const each of Array.from(neighbours)) {
    const x = points[2 * each] - points[2 * from];
    const y = points[2 * each + 1] - points[2 * from + 1];
    const along = (x * dx + y * dy) / (Math.hypot(x, y) || 1);
    if (along > most) {
      best = each;
      most = along;
    }
  }
  return best;
}
