/**
 * The curves of a run, with a bounded number of points: when there are too many, neighbours are
 * averaged, so that a run of any length is drawn from a few thousand points.
 */

const LONGEST = 3000;
/** The trend averages about the last quarter of the run, but at most this many steps. */
const TREND_STEPS = 50;

const SERIES = /** @type {const} */ ([
  "loss", "trendLoss", "accuracy", "trendAccuracy", "testLoss", "testAccuracy",
]);

/** @typedef {typeof SERIES[number]} SeriesName */

/** A moving average whose window grows with the run: short at first, while the loss falls quickly. */
class Trend {
  #mean = 0;
  #count = 0;

  /** @param {number} value */
  next(value) {
    this.#count += 1;
    const window = Math.min(TREND_STEPS, (this.#count + 3) / 4);
    this.#mean += (value - this.#mean) / window;
    return this.#mean;
  }
}

export class Curves {
  /** @type {number[]} the step of each point */
  steps = [];
  /** @type {Record<SeriesName, (number | null)[]>} */
  series = empty();
  /** Steps per point. */
  stride = 1;
  #inLast = 0;
  #loss = new Trend();
  #accuracy = new Trend();

  clear() {
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
      const isTest = name === "testLoss" || name === "testAccuracy";
      this.series[name] = this.steps.map((_, index) => {
        const [a, b] = [old[2 * index], old[2 * index + 1]];
        if (a === null || b === null) return a ?? b;
        return isTest ? b : (a + b) / 2;
      });
    }
  }
}

/** @returns {Record<SeriesName, (number | null)[]>} */
function empty() {
  return { loss: [], trendLoss: [], accuracy: [], trendAccuracy: [], testLoss: [], testAccuracy: [] };
}

/** @param {number | null | undefined} value */
const finite = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** @param {Partial<Record<SeriesName, number | null>>} values */
const entries = (values) =>
  /** @type {[SeriesName, number | null][]} */ (Object.entries(values));
