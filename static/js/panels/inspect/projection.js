/** Points of a projection: their extent, the nearest one, and the same signs as before. */

/**
 * Flip the axes of a projection that point the other way than before: the sign of a principal
 * component is arbitrary, and points that jump to the other side cannot be followed.
 * @param {Float32Array} points (rows, 2)
 * @param {Float32Array} rows the samples of the points
 * @param {{points: Float32Array, rows: Float32Array} | null} before
 * @returns {Float32Array}
 */
export function aligned(points, rows, before) {
  if (!before) return points;
  const places = new Map(Array.from(before.rows, (row, at) => [row, at]));
  const sums = [0, 0];
  rows.forEach((row, at) => {
    const other = places.get(row);
    if (other === undefined) return;
    for (const axis of [0, 1])
      sums[axis] += points[2 * at + axis] * before.points[2 * other + axis];
  });
  return points.map((value, at) => (sums[at % 2] < 0 ? -value : value));
}

/**
 * The square around all points, with a margin.
 * @param {Float32Array} points
 * @returns {{left: number, bottom: number, size: number}}
 */
export function squareAround(points) {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  points.forEach((value, at) => {
    low[at % 2] = Math.min(low[at % 2], value);
    high[at % 2] = Math.max(high[at % 2], value);
  });
  const spread = Math.max(high[0] - low[0], high[1] - low[1]);
  const size = 1.12 * (spread > 0 ? spread : 1);
  return { left: (low[0] + high[0] - size) / 2, bottom: (low[1] + high[1] - size) / 2, size };
}

/**
 * The point nearest to a place; −1 if none is within `reach`.
 * @param {Float32Array} points
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 */
export function nearest(points, x, y, reach) {
  let best = -1;
  let least = reach ** 2;
  for (let at = 0; 2 * at < points.length; at += 1) {
    const distance = (points[2 * at] - x) ** 2 + (points[2 * at + 1] - y) ** 2;
    if (distance <= least) [best, least] = [at, distance];
  }
  return best;
}

/** The keys that move to another point: the axis, and the direction along it. @type {Record<string, [axis: number, step: number]>} */
const KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1] };

/**
 * The point that a key moves to: the next one in that direction.
 * @param {Float32Array} points
 * @param {number} at −1 for none yet
 * @param {string} key
 * @returns {number | null} null for keys that do not move
 */
export function movedTo(points, at, key) {
  if (!Object.hasOwn(KEYS, key)) return null;
  const [axis, step] = KEYS[key];
  const order = Array.from({ length: points.length / 2 }, (_, each) => each).sort(
    (a, b) => points[2 * a + axis] - points[2 * b + axis] || a - b,
  );
  const place = order.indexOf(at);
  if (place < 0) return order[Math.floor(order.length / 2)] ?? null;
  return order[Math.min(order.length - 1, Math.max(0, place + step))];
}
