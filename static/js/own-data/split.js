/** Rows for training and for testing, by a seed. */

/** Pseudorandom numbers from 0 to 1: a counter, mixed as in MurmurHash3's last step. @param {number} seed */
export function random(seed) {
  let counter = seed | 0;
  return () => {
    counter = (counter + 0x9e3779b9) | 0;
    let bits = counter ^ (counter >>> 16);
    bits = Math.imul(bits, 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** In a random order, by Fisher and Yates. @template T @param {T[]} items @param {() => number} next @returns {T[]} */
function shuffled(items, next) {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(next() * (last + 1));
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}

/**
 * Numbers of rows, in a random order. Each group, such as a class, has the same part of its rows in
 * the test data, and at least one on each side if it has two.
 * @param {ArrayLike<number>} groups the group of each row
 * @param {number} test the part for testing, from 0 to below 1
 * @param {number} seed
 * @returns {{train: number[], test: number[]}}
 */
export function splitRows(groups, test, seed) {
  const next = random(seed);
  /** @type {Map<number, number[]>} */
  const rows = new Map();
  for (let row = 0; row < groups.length; row += 1) {
    const group = rows.get(groups[row]);
    if (group) group.push(row);
    else rows.set(groups[row], [row]);
  }
  /** @type {{train: number[], test: number[]}} */
  const parts = { train: [], test: [] };
  for (const group of [...rows.keys()].sort((a, b) => a - b)) {
    const order = shuffled(/** @type {number[]} */ (rows.get(group)), next);
    const wanted = Math.round(order.length * test);
    const tested =
      test === 0 || order.length < 2 ? 0 : Math.min(Math.max(wanted, 1), order.length - 1);
    order.forEach((row, at) => parts[at < tested ? "test" : "train"].push(row));
  }
  return { train: shuffled(parts.train, next), test: shuffled(parts.test, next) };
}
