/** The versions of a network that no other one beats: plain values in and out. */

/** @typedef {import("../../../engine/messages.js").ShrunkPoint} ShrunkPoint */

/** Whether the value of a version is better than another's. @param {ShrunkPoint} one @param {ShrunkPoint} other */
const isBetter = (one, other) =>
  one.metric === "accuracy" ? one.value > other.value : one.value < other.value;

/** Whether a version is at least as good as another in both, and better in one. @param {ShrunkPoint} one @param {ShrunkPoint} other */
const beats = (one, other) =>
  one.gzip <= other.gzip &&
  !isBetter(other, one) &&
  (one.gzip < other.gzip || isBetter(one, other));

/**
 * The Pareto front: the versions for which no other is both smaller and as good, or as small and better.
 * @param {ShrunkPoint[]} points
 * @returns {ShrunkPoint[]} the smallest first
 */
export function paretoFront(points) {
  const known = points.filter(({ value }) => Number.isFinite(value));
  return known
    .filter((each) => !known.some((other) => beats(other, each)))
    .sort((one, other) => one.gzip - other.gzip);
}
