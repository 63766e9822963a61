/**
 * Signs that workers are alive, and notice of their end.
 *
 * No event reports a worker that the browser ended or that closed itself. So a worker holds a lock
 * for as long as it lives, and the page, which waits for the same lock, gets it when the worker has
 * ended. A worker that computes for a long time gives signs of life, so that Python knows that it
 * does not hang.
 */

import { stopFlag } from "./control.js";

/** A name for the lock of a new worker. @param {string} worker */
export function lockName(worker) {
  return `playgrad ${worker} ${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
}

/**
 * In a worker: hold a lock until the worker ends.
 * @param {string} lock its name
 * @param {() => void} held is called as soon as the lock is held
 */
export function holdForLife(lock, held) {
  if (!navigator.locks) {
    held(); // the page then learns of the end only when something goes unanswered
    return;
  }
  let isHeld = false;
  navigator.locks
    .request(lock, () => {
      isHeld = true;
      held();
      return new Promise(() => {});
    })
    .catch((problem) => {
      if (isHeld) throw problem; // a program has stolen it
      held(); // a frame without storage has no locks either
    });
}

/**
 * In a worker: a function that gives a sign of life and returns whether a stop is requested. To be
 * called between any two pieces of work.
 * @param {SharedArrayBuffer} control
 * @param {import("./ring.js").RingWriter} answers
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
 * In the page, after the worker has reported that it holds the lock: wait for the worker's end.
 * @param {string} lock its name
 * @returns {Promise<void>}
 */
export async function endOfLife(lock) {
  const isHeld = await navigator.locks?.request(lock, () => true).catch(() => false);
  if (!isHeld) await new Promise(() => {});
}
