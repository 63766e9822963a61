/**
 * The curves of a run, with a bounded number of points: when there are too many, neighbours are
 * averaged, so that a run of any length is drawn from a few thousand points.
 */

const LONGEST = 3000;
/** The longest memory of the trend, in steps. */
const TREND_STEPS = 50;
/** No average remembers more than this part of a run: in a short one it would lag far behind. */
const LONGEST_PART = 1 / 16;

export const SERIES = /** @type {const} */ ([
  "loss",
  "trendLoss",
  "accuracy",
  "trendAccuracy",
  "testLoss",
  "testAccuracy",
  "elo",
]);
/** Series with values at the ends of some epochs only. @type {ReadonlySet<SeriesName>} */
const MARKS = new Set(["testLoss", "testAccuracy", "elo"]);

/** @typedef {typeof SERIES[number]} SeriesName */

/**
 * @typedef {{steps: Float64Array, series: Record<Exclude<SeriesName, "elo">, Float64Array> & {elo?: Float64Array}, stride: number,
 *            inLast: number, trends: Float64Array}} SavedCurves
 *   `series`: NaN for a missing value, and `elo` only if there are ratings; `trends`: mean and count of each trend
 */

/** A moving average whose window grows with the run: short at first, while the loss falls quickly. */
class Trend {
  constructor(mean = 0, count = 0) {
    this.mean = mean;
    this.count = count;
  }

  /** @param {number} value */
  next(value) {
    this.count += 1;
    const window = Math.min(TREND_STEPS, 1 + (this.count - 1) * LONGEST_PART);
    this.mean += (value - this.mean) / window;
    return this.mean;
  }

  /**
   * The trend as it was before the last points; about that, if several steps share a point.
   * @param {(number | null)[]} dropped values of those points
   * @param {(number | null)[]} means at the points before them
   * @param {number} stride steps per point
   */
  before(dropped, means, stride) {
    const count = this.count - stride * dropped.filter((value) => value !== null).length;
    return new Trend(means.findLast((mean) => mean !== null) ?? 0, Math.max(0, count));
  }
}

export class Curves {
  /** @type {number[]} the step of each point */
  steps = [];
  /** @type {Record<SeriesName, (number | null)[]>} */
  series = empty();
  /** Steps per point. */
  stride = 1;
  /** The time at which the curves of this fit began; no other fit has it. @type {number | undefined} */
  began = Date.now();
  #inLast = 0;
  #loss = new Trend();
  #accuracy = new Trend();

  clear() {
    this.#beginAnew();
    this.steps = [];
    this.series = empty();
    this.stride = 1;
    this.#inLast = 0;
    this.#loss = new Trend();
    this.#accuracy = new Trend();
  }

  /** @param {number} step @param {number | null} loss @param {number | null} accuracy */
  add(step, loss, accuracy) {
    const finiteLoss = finite(loss);
    const finiteAccuracy = finite(accuracy);
    this.#put(step, {
      loss: finiteLoss,
      trendLoss: finiteLoss === null ? null : this.#loss.next(finiteLoss),
      accuracy: finiteAccuracy,
      trendAccuracy: finiteAccuracy === null ? null : this.#accuracy.next(finiteAccuracy),
    });
  }

  /**
   * Add the results on the test set to the last point, at the end of an epoch.
   * @param {number} step @param {number | null} testLoss @param {number | null} testAccuracy
   */
  mark(step, testLoss, testAccuracy) {
    if (this.steps.length === 0) this.#put(step, {});
    const last = this.steps.length - 1;
    this.series.testLoss[last] = finite(testLoss);
    this.series.testAccuracy[last] = finite(testAccuracy);
  }

  /**
   * Add the Elo rating of a player that learns to the last point.
   * @param {number} step @param {number} elo
   */
  rate(step, elo) {
    if (this.steps.length === 0) this.#put(step, {});
    this.series.elo[this.steps.length - 1] = finite(elo);
  }

  /** The ratings with their steps. @returns {[number, number][]} */
  get ratings() {
    return this.steps.flatMap((step, index) => {
      const elo = this.series.elo[index];
      return elo === null ? [] : [/** @type {[number, number]} */ ([step, elo])];
    });
  }

  /** @returns {SavedCurves} */
  save() {
    const { ratings } = this;
    const saved = SERIES.filter((name) => name !== "elo" || ratings.length > 0);
    const series = Object.fromEntries(
      saved.map((name) => [name, Float64Array.from(this.series[name], (value) => value ?? NaN)]),
    );
    return {
      steps: Float64Array.from(this.steps),
      series: /** @type {SavedCurves["series"]} */ (series),
      stride: this.stride,
      inLast: this.#inLast,
      trends: Float64Array.of(
        this.#loss.mean,
        this.#loss.count,
        this.#accuracy.mean,
        this.#accuracy.count,
      ),
    };
  }

  /** @param {SavedCurves} saved */
  load({ steps, series, stride, inLast, trends }) {
    this.steps = [...steps];
    for (const name of SERIES) {
      const values = series[name] ?? new Float64Array(steps.length).fill(NaN);
      this.series[name] = Array.from(values, (value) => (Number.isNaN(value) ? null : value));
    }
    this.stride = stride;
    this.#inLast = inLast;
    this.#loss = new Trend(trends[0], trends[1]);
    this.#accuracy = new Trend(trends[2], trends[3]);
  }

  #beginAnew() {
    this.began = Math.max(Date.now(), (this.began ?? 0) + 1);
  }

  /** Drop the points after a step, from which another fit continues. @param {number} step */
  rewind(step) {
    this.#beginAnew();
    const end = this.steps.findIndex((each) => each > step);
    if (end < 0) return;
    const { loss, trendLoss, accuracy, trendAccuracy } = this.series;
    this.#loss = this.#loss.before(loss.slice(end), trendLoss.slice(0, end), this.stride);
    this.#accuracy = this.#accuracy.before(
      accuracy.slice(end),
      trendAccuracy.slice(0, end),
      this.stride,
    );
    this.steps.length = end;
    for (const name of SERIES) this.series[name].length = end;
    this.#inLast = this.stride; // the last point is complete: the next step begins a new one
  }

  /** @param {number} step @param {Partial<Record<SeriesName, number | null>>} values */
  #put(step, values) {
    if (this.#inLast === 0 || this.#inLast === this.stride) {
      if (this.steps.length >= LONGEST) this.#halve();
      this.steps.push(step);
      for (const name of SERIES) this.series[name].push(values[name] ?? null);
      this.#inLast = 1;
      return;
    }
    const last = this.steps.length - 1;
    this.steps[last] = step;
    this.#inLast += 1;
    for (const [name, value] of entries(values)) {
      if (value === null) continue;
      const before = this.series[name][last];
      this.series[name][last] = before === null ? value : before + (value - before) / this.#inLast;
    }
  }

  #halve() {
    this.stride *= 2;
    this.steps = this.steps.filter((_, index) => index % 2 === 1);
    for (const name of SERIES) {
      const old = this.series[name];
      this.series[name] = this.steps.map((_, index) => {
        const [a, b] = [old[2 * index], old[2 * index + 1]];
        if (a === null || b === null) return a ?? b;
        return MARKS.has(name) ? b : (a + b) / 2;
      });
    }
  }
}

/**
 * An exponential moving average, without the pull of the zero that it starts from. In a short run it
 * remembers less, so that it follows: more smoothing still is smoother.
 * @param {(number | null)[]} column
 * @param {number} part of the average before in each new one of a long run, from 0 to below 1
 * @returns {(number | null)[]}
 */
export function smoothed(column, part) {
  const count = column.filter((value) => value !== null).length;
  const longest = 1 / (1 - part);
  // In points: nearly `longest` in long runs, at most LONGEST_PART of short ones.
  const memory = 1 + ((longest - 1) * LONGEST_PART * count) / (LONGEST_PART * count + longest - 1);
  const kept = part === 0 ? 0 : 1 - 1 / memory;
  let sum = 0;
  let weight = 0;
  return column.map((value) => {
    if (value === null) return null;
    sum = kept * sum + (1 - kept) * value;
    weight = kept * weight + (1 - kept);
    return sum / weight;
  });
}

/** @returns {Record<SeriesName, (number | null)[]>} */
function empty() {
  return {
    loss: [],
    trendLoss: [],
    accuracy: [],
    trendAccuracy: [],
    testLoss: [],
    testAccuracy: [],
    elo: [],
  };
}

/** @param {number | null | undefined} value */
const finite = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** @param {Partial<Record<SeriesName, number | null>>} values */
const entries = (values) => /** @type {[SeriesName, number | null][]} */ (Object.entries(values));
