/**
 * Decides how many training steps to submit before waiting for the device.
 *
 * Steps are submitted in groups, with at most two groups in flight. A group is about 25 ms of work: a
 * stop takes effect soon, slow steps do not pile up, and fast steps are never awaited one by one. Some
 * browsers report finished work on a coarse timer (about 100 ms). A group is then longer than the
 * timer's period: anything shorter would be measured as one period, and groups would shrink for no
 * reason.
 *
 * Very short steps share a submit, since a submit costs the device as much as a small kernel.
 */

const GROUP_MS = 25;
const GROUPS_IN_FLIGHT = 2;
const LONGEST_GROUP = 4096;
const GROWTH = 4;
const SUBMIT_MS = 5;
const STEPS_IN_SUBMIT = 8;
const REMEMBERED = 8;

export class Pace {
  /** Current number of steps in a group. */
  group = 1;
  /** Milliseconds per step; 0 until the first measurement. */
  perStep = 0;
  /** @type {number[]} the last values of `perStep` */
  #recent = [];
  #target;

  /** @param {number} latency milliseconds until the browser reports that an idle device is done */
  constructor(latency) {
    this.#target = Math.max(GROUP_MS, 1.5 * latency);
  }

  /** Current number of steps in a submit. */
  get submit() {
    if (this.perStep === 0) return 1;
    return Math.max(1, Math.min(Math.floor(SUBMIT_MS / this.perStep), STEPS_IN_SUBMIT));
  }

  /** Milliseconds per step when nothing disturbs it; 0 until the first measurement. */
  get least() {
    return this.#recent.length > 0 ? Math.min(...this.#recent) : 0;
  }

  /** @param {number} steps finished steps @param {number} milliseconds their duration */
  finished(steps, milliseconds) {
    this.perStep = Math.max(milliseconds / steps, 1e-3);
    this.#recent.push(this.perStep);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
    const ideal = Math.round(this.#target / this.perStep);
    this.group = Math.max(1, Math.min(ideal, this.group * GROWTH, LONGEST_GROUP));
  }
}

/** @typedef {{steps: number, since: number}} Rest steps that were not awaited, and when they started */

/**
 * Submit steps at a pace that the device can sustain.
 * @param {number} steps
 * @param {Pace} pace
 * @param {{submit: (steps: number) => void, done: () => Promise<unknown>, stop: () => boolean}} device
 *   `submit` submits a number of steps; `done` resolves when everything submitted so far has run
 * @returns {Promise<{submitted: number, rest: Rest}>} `rest`: the last steps, to be awaited
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
      const together = Math.min(pace.submit, size - count);
      device.submit(together);
      count += together;
    }
    submitted += count;
    if (submitted >= steps) break;
    const done = device.done();
    done.catch(() => {}); // reported where it is awaited; the last ones are not awaited
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
