/**
 * How many training steps to submit before waiting for the device.
 *
 * Steps are submitted in groups; at most two groups are in flight. A group is about 25 ms of work,
 * so that a stop is obeyed soon, slow steps do not pile up, and fast ones are never waited for
 * one by one. Some browsers report finished work on a coarse timer (about 100 ms); a group is
 * then made longer than the timer's period, since anything shorter would be measured as one
 * period and the groups would shrink for no reason.
 *
 * Steps that take next to nothing go to the device several in one submit, which costs it as much
 * as a small kernel.
 */

const GROUP_MS = 25;
const GROUPS_IN_FLIGHT = 2;
const LONGEST_GROUP = 4096;
const GROWTH = 4;
const SUBMIT_MS = 5;
const STEPS_IN_SUBMIT = 8;
const REMEMBERED = 8;

export class Pace {
  /** Steps in a group now. */
  group = 1;
  /** Milliseconds that a step takes; 0 until one was measured. */
  perStep = 0;
  /** @type {number[]} what it was the last times */
  #recent = [];
  #target;

  /** @param {number} latency milliseconds the browser takes to report that nothing is to be done */
  constructor(latency) {
    this.#target = Math.max(GROUP_MS, 1.5 * latency);
  }

  /** Steps in a submit now. */
  get submit() {
    if (this.perStep === 0) return 1;
    return Math.max(1, Math.min(Math.floor(SUBMIT_MS / this.perStep), STEPS_IN_SUBMIT));
  }

  /** Milliseconds that a step takes when nothing disturbs it; 0 until one was measured. */
  get least() {
    return this.#recent.length > 0 ? Math.min(...this.#recent) : 0;
  }

  /** @param {number} steps that have ended @param {number} milliseconds they took */
  finished(steps, milliseconds) {
    this.perStep = Math.max(milliseconds / steps, 1e-3);
    this.#recent.push(this.perStep);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
    const wanted = Math.round(this.#target / this.perStep);
    this.group = Math.max(1, Math.min(wanted, this.group * GROWTH, LONGEST_GROUP));
  }
}

/** @typedef {{steps: number, since: number}} Rest steps not waited for, and since when they run */

/**
 * Submit steps at a pace that the device can follow.
 * @param {number} steps
 * @param {Pace} pace
 * @param {{submit: (steps: number) => void, done: () => Promise<unknown>, stop: () => boolean}} device
 *   `submit` so many steps; `done` resolves when everything submitted so far has run
 * @returns {Promise<{submitted: number, rest: Rest}>} `rest`: the last steps, still to be waited for
 */
export async function submitSteps(steps, pace, device) {
  /** @type {{steps: number, done: Promise<unknown>}[]} */
  const inFlight = [];
  let submitted = 0;
  let waited = 0;
  let lastFinished = performance.now();
  while (submitted < steps && !device.stop()) {
    const size = Math.min(pace.group, steps - submitted);
    let count = 0;
    while (count < size && !device.stop()) {
      const several = Math.min(pace.submit, size - count);
      device.submit(several);
      count += several;
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
      waited += oldest.steps;
      lastFinished = now;
    }
  }
  return { submitted, rest: { steps: submitted - waited, since: lastFinished } };
}
