/**
 * The losses of a run at a few steps, by which two runs can be compared: two steps of each power of
 * two (1, 2, 3, 4, 6, 8, 12, …) and the last.
 */

/** @typedef {[step: number, loss: number][]} Landmarks */

/** The relative difference of losses that counts as the same: devices round differently. */
const TOLERANCE = 1e-3;
const LEAST = 1e-6;

/** @param {number} step */
export function isLandmark(step) {
  const power = 2 ** Math.floor(Math.log2(step));
  return step === power || 2 * step === 3 * power;
}

/**
 * @param {Landmarks} expected
 * @param {Landmarks} actual
 * @returns {{compared: number, differs: [step: number, expected: number, actual: number] | null, largest: number}}
 *   `compared`: the steps that both have; `differs`: the first that differs; `largest`: relative difference
 */
export function compare(expected, actual) {
  const losses = new Map(actual);
  let compared = 0;
  let largest = 0;
  for (const [step, loss] of expected) {
    const other = losses.get(step);
    if (other === undefined) continue;
    compared += 1;
    const difference = Math.abs(loss - other);
    const size = Math.max(Math.abs(loss), Math.abs(other), LEAST);
    // Written so that NaN differs.
    if (!(difference <= TOLERANCE * size + LEAST))
      return { compared, differs: [step, loss, other], largest };
    largest = Math.max(largest, difference / size);
  }
  return { compared, differs: null, largest };
}
