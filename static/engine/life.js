/**
 * How the page learns that a worker has ended, for whatever reason: a worker holds a lock for as
 * long as it lives, and nobody else gets it before. No event tells of a worker that the browser
 * ended or that closed itself. And how Python learns that one that is long at work does not hang.
 */

import { stopFlag } from "./shared-memory.js";

/**
 * In a worker: hold a lock until the end.
 * @param {string} lock its name
 * @param {() => void} held is called when it is held
 */
export function holdForLife(lock, held) {
  navigator.locks.request(lock, () => {
    held();
    return new Promise(() => {});
  });
}

/**
 * In a worker: whether a stop is asked for, to be looked at between any two pieces of work. To look
 * is a sign of life.
 * @param {SharedArrayBuffer} control
 * @param {import("./shared-memory.js").RingWriter} answers
 * @returns {() => boolean}
 */
export function stopFlagAtWork(control, answers) {
  const stop = stopFlag(control);
  return () => {
    answers.signOfLife();
    return stop();
  };
}

/**
 * In the page, once the worker said that it holds the lock: wait for the worker's end.
 * @param {string} lock its name
 * @returns {Promise<void>}
 */
export async function endOfLife(lock) {
  await navigator.locks.request(lock, () => {});
}
