/**
 * The control words: shared memory in which the page stops Python and the devices, and in which
 * device workers wake Python. Three Int32 words:
 *
 *   [0] interrupt: its low byte is Pyodide's interrupt buffer; 2 raises KeyboardInterrupt
 *   [1] stop: 1 ends an `execute` between two training steps
 *   [2] bell: counts the events for which Python, waiting for devices, should wake up
 */

const INTERRUPT = 0;
const STOP = 1;
const BELL = 2;
const BYTES = 12;
const SIGINT = 2;

export const createControl = () => new SharedArrayBuffer(BYTES);

/** Wake Python if it waits for devices. @param {SharedArrayBuffer} control */
export function ringBell(control) {
  const words = new Int32Array(control);
  Atomics.add(words, BELL, 1);
  Atomics.notify(words, BELL);
}

/** The bell on which Python sleeps while it waits for any of several device workers. */
export class Bell {
  #words;
  #heard = 0;

  /** @param {SharedArrayBuffer} control */
  constructor(control) {
    this.#words = new Int32Array(control);
  }

  /**
   * Sleep until the bell rings; return at once if it has rung since the last call.
   * @param {number} [timeout] milliseconds
   */
  wait(timeout = Infinity) {
    Atomics.wait(this.#words, BELL, this.#heard, timeout);
    this.#heard = Atomics.load(this.#words, BELL);
  }
}

/** Request a stop, and wake Python if it sleeps. @param {SharedArrayBuffer} control */
export function raiseStop(control) {
  const words = new Int32Array(control);
  Atomics.store(words, STOP, 1);
  Atomics.store(words, INTERRUPT, SIGINT);
  Atomics.notify(words, INTERRUPT);
  ringBell(control);
}

/** Interrupt Python's work for the prompt, and wake it if it sleeps. @param {SharedArrayBuffer} control */
export function raiseInterrupt(control) {
  const words = new Int32Array(control);
  Atomics.store(words, INTERRUPT, SIGINT);
  Atomics.notify(words, INTERRUPT);
}

/** Withdraw a stop request. @param {SharedArrayBuffer} control */
export function lowerStop(control) {
  const words = new Int32Array(control);
  Atomics.store(words, STOP, 0);
  Atomics.store(words, INTERRUPT, 0);
}

/**
 * @param {SharedArrayBuffer} control
 * @returns {() => boolean} whether a stop is requested; cheap enough to call between any two steps
 */
export function stopFlag(control) {
  const words = new Int32Array(control);
  return () => Atomics.load(words, STOP) !== 0;
}

/** @param {SharedArrayBuffer} control @returns {Uint8Array} for `pyodide.setInterruptBuffer` */
export function interruptBuffer(control) {
  return new Uint8Array(control, INTERRUPT * 4, 1);
}

/**
 * @param {SharedArrayBuffer} control
 * @returns {() => boolean} whether an interrupt is requested; clears the request, as Pyodide does
 */
export function interruptTaker(control) {
  const buffer = interruptBuffer(control);
  return () => Atomics.compareExchange(buffer, 0, SIGINT, 0) === SIGINT;
}

/**
 * Sleep until the time is up or an interrupt is requested; for workers only.
 * @param {SharedArrayBuffer} control
 * @param {number} milliseconds
 */
export function sleep(control, milliseconds) {
  Atomics.wait(new Int32Array(control), INTERRUPT, 0, milliseconds);
}
