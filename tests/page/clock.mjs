/** A clock that a test moves, with the timers and frames of a browser. It never goes back: the page's frame scheduler is shared by all tests. */

const FRAME_MS = 16;
let now = 1000;

/**
 * @param {import("node:test").TestContext} t
 * @param {{isHidden?: boolean}} [page] whether the browser draws no frames
 */
export function clock(t, { isHidden = false } = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => now);
  // A screen has its own times for frames.
  globalThis.requestAnimationFrame = (draw) =>
    isHidden ? 1 : setTimeout(draw, FRAME_MS - (now % FRAME_MS));
  globalThis.cancelAnimationFrame = (frame) => isHidden || clearTimeout(frame);
  return {
    now: () => now,
    /** Let time pass without anything happening, as when Python works. @param {number} milliseconds */
    skip: (milliseconds) => (now += milliseconds),
    /** @param {number} milliseconds */
    wait(milliseconds) {
      for (let passed = 0; passed < milliseconds; passed += 1) {
        now += 1;
        t.mock.timers.tick(1);
      }
    },
  };
}
