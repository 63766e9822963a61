// Latencies over time, from the server's histograms, which only grow.

/**
 * @typedef {[number | null, number][]} Histogram  bounds in seconds with the number of answers up
 *   to each; the last bound is null
 * @typedef {{ median: number, tail: number, count: number }} Point  in milliseconds
 */

/** How many seconds a curve shows. */
export const SECONDS = 120;

/**
 * Return the time within which a share of the answers between two histograms came, in
 * milliseconds: within a bucket they are taken to be spread evenly.
 * @param {Histogram} before
 * @param {Histogram} after
 * @param {number} share
 */
export function quantile(before, after, share) {
  const counts = after.map(([, count], index) => count - (before[index]?.[1] ?? 0));
  const goal = share * (counts.at(-1) ?? 0);
  const index = counts.findIndex((count) => count >= goal && count > 0);
  const low = index > 0 ? (after[index - 1][0] ?? 0) : 0;
  const high = after[index]?.[0] ?? low;
  const below = index > 0 ? counts[index - 1] : 0;
  const within = counts[index] - below;
  return 1000 * (low + ((high - low) * (goal - below)) / (within || 1));
}

/** The curves of all versions: a point for each second in which there were answers. */
export class Latencies {
  constructor() {
    /** @type {Map<string, { last: Histogram, points: (Point | null)[] }>} */
    this.curves = new Map();
  }

  /**
   * Add the histogram of a version, once a second.
   * @param {string} key
   * @param {Histogram} histogram
   */
  add(key, histogram) {
    const curve = this.curves.get(key) ?? { last: histogram, points: [] };
    const total = histogram.at(-1)?.[1] ?? 0;
    const count = total - (curve.last.at(-1)?.[1] ?? 0);
    const median = quantile(curve.last, histogram, 0.5);
    const tail = quantile(curve.last, histogram, 0.99);
    curve.points.push(count > 0 ? { median, tail, count } : null);
    if (curve.points.length > SECONDS) curve.points.shift();
    this.curves.set(key, { last: histogram, points: curve.points });
  }

  /**
   * Return the points of a version, oldest first; null where there were no answers.
   * @param {string} key
   */
  points(key) {
    return this.curves.get(key)?.points ?? [];
  }
}
