/** Counts of true and predicted classes, and the samples with the highest losses. */

/**
 * How often each class was predicted for samples of each class. A sample without a prediction is in
 * no cell.
 * @param {ArrayLike<number>} truth
 * @param {ArrayLike<number>} predicted
 * @param {number} classes
 * @returns {{counts: number[][], right: number, counted: number}} `counts` by true and predicted class
 */
export function confusionOf(truth, predicted, classes) {
  const counts = Array.from({ length: classes }, () => new Array(classes).fill(0));
  let counted = 0;
  for (let at = 0; at < truth.length; at += 1) {
    if (counts[truth[at]]?.[predicted[at]] === undefined) continue;
    counts[truth[at]][predicted[at]] += 1;
    counted += 1;
  }
  return { counts, right: counts.reduce((sum, row, label) => sum + row[label], 0), counted };
}

/**
 * The numbers of samples by falling loss; one that is NaN comes first.
 * @param {Float32Array} losses
 * @param {(at: number) => boolean} [among] whether a sample counts
 */
export function hardestOf(losses, among = () => true) {
  const rank = (/** @type {number} */ at) => (Number.isNaN(losses[at]) ? Infinity : losses[at]);
  const numbers = Array.from(losses.keys()).filter(among);
  // Of two infinities the difference is no number.
  return numbers.sort((a, b) => (rank(a) === rank(b) ? a - b : rank(b) - rank(a)));
}
