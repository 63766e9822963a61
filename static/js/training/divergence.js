/** Tells whether a loss has grown out of all proportion. */

/** @typedef {(number | null)[]} Column */
/** @typedef {{from: number, to: number}} Divergence the loss at the beginning and at the end */

/** A loss that has grown by this factor was not learning. Rewards and games change losses by less. */
const FACTOR = 20;
/** Losses at the beginning, of which the middle one counts. */
const FIRST = 5;

/**
 * @param {Column} losses of the points of the curve
 * @param {Column} trend their moving average
 * @param {number | null} last the loss of the last step
 * @returns {Divergence | null}
 */
export function divergenceOf(losses, trend, last) {
  const first = losses
    .filter((loss) => loss !== null)
    .slice(0, FIRST)
    .sort((a, b) => a - b);
  if (first.length === 0 || last === null) return null;
  const from = first[Math.floor(first.length / 2)];
  if (!Number.isFinite(last)) return { from, to: last };
  const mean = trend.findLast((loss) => loss !== null) ?? last;
  const limit = FACTOR * from;
  return from > 0 && last > limit && mean > limit ? { from, to: last } : null;
}
