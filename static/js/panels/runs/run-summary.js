/** A run in five sentences for a beginner. Every number in them is one of the run's record. */

import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";

/** @import { Run } from "./runs.js" */

/** A loss that changes by less than this part is said to stay. */
const NOTICEABLE = 0.05;
/** The end of the training: the last part of the curve. */
const LAST_PART = 0.2;
/** A loss above this part of the first one has hardly begun to fall, as in `app/playgrad/doctor/thresholds.py`. */
const HARDLY = 0.7;
/** Points of percent by which the accuracy on training data may exceed that on test data. */
const SMALL_GAP = 3;

/** @param {Run} run @returns {string[]} */
export function summaryOf(run) {
  return [training(run), losses(run), test(run), generalization(run), ending(run)];
}

/** @param {Run} run */
function training({ parameters, step, seconds, ranOn, epochs, state, hasEarlierFits }) {
  const words = t().summary;
  const time = format.duration(seconds);
  const passes = epochs === undefined || state !== "done" ? "" : words.epochs(epochs);
  const sentence =
    parameters === undefined
      ? words.ran(step, passes, time, ranOn)
      : words.trained(parameters, step, passes, time, ranOn);
  return hasEarlierFits ? words.ofLastFit(sentence) : sentence;
}

/** The first and the last value of the trend. @param {Run} run @returns {[number, number] | null} */
function ends(run) {
  const first = run.losses.find((loss) => loss !== null) ?? null;
  return first === null || run.loss === null ? null : [first, run.loss];
}

/** @param {Run} run */
function losses(run) {
  const words = t().summary;
  const pair = ends(run);
  if (!pair || !Number.isFinite(pair[1])) return words.lossLost;
  const [from, to] = pair;
  const [first, last] = pair.map((loss) => format.loss(loss));
  if (from - to > NOTICEABLE * Math.abs(from)) return words.lossFell(first, last);
  return to - from > NOTICEABLE * Math.abs(from)
    ? words.lossGrew(first, last)
    : words.lossStayed(first, last);
}

/** @param {Run} run */
function test({ testAccuracy, testLoss }) {
  const words = t().summary;
  if (testAccuracy !== null) {
    const wrong = 1 - testAccuracy;
    return words.tested(format.percent(testAccuracy, 1), wrong > 0 ? Math.round(1 / wrong) : null);
  }
  return typeof testLoss === "number" ? words.testedLoss(format.loss(testLoss)) : words.untested;
}

/** @param {Run} run */
function generalization({ testAccuracy, trainAccuracy, testLoss, loss }) {
  const words = t().summary;
  if (testAccuracy !== null && typeof trainAccuracy === "number") {
    const [train, points] = [
      format.percent(trainAccuracy, 1),
      100 * (trainAccuracy - testAccuracy),
    ];
    return points > SMALL_GAP ? words.byHeart(train, points.toFixed(1)) : words.understood(train);
  }
  if (typeof testLoss === "number" && loss !== null)
    return words.bothLosses(format.loss(loss), format.loss(testLoss));
  return words.unknown;
}

/** @param {Run} run */
function ending(run) {
  const words = t().summary;
  const pair = ends(run);
  if (!pair || !Number.isFinite(pair[1]) || pair[1] - pair[0] > NOTICEABLE * Math.abs(pair[0]))
    return words.lower;
  if (run.step < run.totalSteps) return words.unfinished(run.step, run.totalSteps);
  const at = run.steps.findIndex((step) => step >= (1 - LAST_PART) * run.step);
  const before = run.losses[at] ?? pair[0];
  const part = before === 0 ? 0 : (before - pair[1]) / Math.abs(before);
  const percent = format.percent(Math.abs(part), 0);
  if (part > NOTICEABLE) return words.stillFalling(percent);
  return pair[1] > HARDLY * pair[0] ? words.slow(percent) : words.settled(percent);
}
