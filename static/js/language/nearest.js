/** The name that a misspelt one was probably meant to be. */

/**
 * @param {string} word
 * @param {Iterable<string>} names
 * @returns {string | null} null if none is close
 */
export function nearest(word, names) {
  let best = null;
  let least = Math.max(1, Math.floor(word.length / 4)) + 0.5;
  for (const name of names) {
    const cost = name.toLowerCase() === word.toLowerCase() ? 0.4 : distance(word, name);
    if (cost > 0 && cost < least) [best, least] = [name, cost];
  }
  return best;
}

/** The number of letters to insert, remove or replace. @param {string} a @param {string} b */
function distance(a, b) {
  if (Math.abs(a.length - b.length) > 3) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + Number(a[i - 1] !== b[j - 1]);
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, replaced));
    }
    row = next;
  }
  return row[b.length];
}
