/** Where the calls of a sample are drawn: each in the row of its depth, leaves side by side. */

/**
 * @import { TreeCall } from "../../../engine/messages.js"
 * @typedef {{call: TreeCall, at: number, column: number}} Place `at`: the number of the call; `column`: 0 for the leftmost leaf
 */

/**
 * The places of calls, and the number of columns. A call is above the middle of those whose values it takes.
 * @param {TreeCall[]} calls
 * @returns {{places: Place[], columns: number}}
 */
export function placed(calls) {
  const columns = /** @type {(number | undefined)[]} */ (new Array(calls.length));
  let leaves = 0;
  const roots = calls.map((call, at) => ({ call, at })).filter(({ call }) => call.result);
  // The result first, then calls that it does not depend on.
  for (const { at } of [...roots, ...calls.map((call, at) => ({ call, at })).reverse()]) visit(at);

  /** @param {number} start visits without recursion: a chain may be long */
  function visit(start) {
    const stack = [{ at: start, entered: false }];
    while (stack.length > 0) {
      const { at, entered } = /** @type {{at: number, entered: boolean}} */ (stack.pop());
      if (columns[at] !== undefined) continue;
      const below = calls[at].takes.filter((each) => each < calls.length);
      if (below.length === 0) columns[at] = leaves++;
      else if (entered) columns[at] = mean(below.map((each) => columns[each] ?? 0));
      else {
        stack.push({ at, entered: true });
        for (const each of [...below].reverse()) stack.push({ at: each, entered: false });
      }
    }
  }

  return {
    places: calls.map((call, at) => ({ call, at, column: columns[at] ?? 0 })),
    columns: Math.max(1, leaves),
  };
}

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
