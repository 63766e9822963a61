/**
 * How many training steps to submit before waiting for the device.
 *
 * Steps are submitted in groups; at most two groups are in flight. A group is about 25 ms of work,
 * so that a stop is obeyed soon, slow steps do not pile up, and fast ones are never waited for
 * one by one. Some browsers report finished work on a coarse timer (about 100 ms); a group is
 * then made longer than the timer's period, since anything shorter would be measured as one
 * period and the groups would shrink for no reason.
 */

const GROUP_MS = 25;
const GROUPS_IN_FLIGHT = 2;
const LONGEST_GROUP = 4096;
const GROWTH = 4;

export class Pace {
  /** Steps in a group now. */
  group = 1;
  #target;

  /** @param {number} latency milliseconds the browser takes to report that nothing is to be done */
  constructor(latency) {
    this.#target = Math.max(GROUP_MS, 1.5 * latency);
  }

  /** @param {number} steps in the group that ended @param {number} milliseconds it took */
  finished(steps, milliseconds) {
    const perStep = Math.max(milliseconds / steps, 1e-3);
    const wanted = Math.round(this.#target / perStep);
    this.group = Math.max(1, Math.min(wanted, this.group * GROWTH, LONGEST_GROUP));
  }
}

/**
 * Submit steps at a pace that the device can follow.
 * @param {number} steps
 * @param {Pace} pace
 * @param {{submit: () => void, done: () => Promise<unknown>, stop: () => boolean}} device
 *   `submit` one step; `done` resolves when everything submitted so far has run
 * @returns {Promise<number>} steps submitted; the last of them may still be running
 */
export async function submitSteps(steps, pace, device) {
  /** @type {{steps: number, done: Promise<unknown>}[]} */
  const inFlight = [];
  let submitted = 0;
  let lastFinished = performance.now();
  while (submitted < steps && !device.stop()) {
    const size = Math.min(pace.group, steps - submitted);
    let count = 0;
    while (count < size && !device.stop()) {
      device.submit();
      count += 1;
    }
    submitted += count;
    if (submitted >= steps) break;
    const done = device.done();
    done.catch(() => {}); // whoever waits for it hears of a failure; the last ones nobody waits for
    inFlight.push({ steps: count, done });
    const oldest = inFlight.length >= GROUPS_IN_FLIGHT ? inFlight.shift() : undefined;
    if (oldest) {
      await oldest.done;
      const now = performance.now();
      pace.finished(oldest.steps, now - lastFinished);
      lastFinished = now;
    }
  }
  return submitted;
}
