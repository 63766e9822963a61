/**
 * The checkpoints along the curve of a run: a bounded number of them, spread over all of its steps.
 */

/** @import { Checkpoint } from "../state/types.js" */

/** As many places as a slider of a phone's width has room for, 12 pixels each. */
export const MOST = 24;
/** Of all checkpoints together; a tab of a phone may have a few hundred MB. */
export const MOST_BYTES = 64 << 20;

/**
 * Add a checkpoint. Those of its step and of later ones belong to a course that was left. If there
 * are too many, the ones closest to their neighbours are dropped; the first and the last stay.
 * @param {readonly Checkpoint[]} ring the earliest first
 * @param {Checkpoint} checkpoint
 * @returns {Checkpoint[]}
 */
export function withCheckpoint(ring, checkpoint) {
  const kept = [...upTo(ring, checkpoint.step - 1), checkpoint];
  while (kept.length > 2 && (kept.length > MOST || sizeOf(kept) > MOST_BYTES))
    kept.splice(mostCrowded(kept), 1);
  return sizeOf(kept) > MOST_BYTES ? [checkpoint] : kept;
}

/** The checkpoints up to a step, from which training continues. @param {readonly Checkpoint[]} ring @param {number} step */
export const upTo = (ring, step) => ring.filter((each) => each.step <= step);

/** @param {readonly Checkpoint[]} ring */
const sizeOf = (ring) => ring.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** The one without which the widest gap is the smallest; of several the earliest. @param {readonly Checkpoint[]} ring */
function mostCrowded(ring) {
  const gaps = ring.slice(1, -1).map((_, index) => ring[index + 2].step - ring[index].step);
  return 1 + gaps.indexOf(Math.min(...gaps));
}

/**
 * The places of the slider: checkpoints before the end of the curve, and null for its end.
 * @param {readonly Checkpoint[]} ring
 * @param {number} end the last step
 * @returns {(Checkpoint | null)[]}
 */
export const places = (ring, end) => [...upTo(ring, end - 1), null];

/**
 * The loss that the curve shows at a step: its trend; null before the first step.
 * @param {{steps: readonly number[], series: {trendLoss: readonly (number | null)[]}}} curves
 * @param {number} step
 */
export function lossAt({ steps, series }, step) {
  const after = steps.findIndex((each) => each > step);
  const upToStep = after < 0 ? series.trendLoss : series.trendLoss.slice(0, after);
  return upToStep.findLast((loss) => loss !== null) ?? null;
}
