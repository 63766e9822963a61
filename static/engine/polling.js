/**
 * Hearing soon of work that is soon done.
 *
 * Chromium's GPU process looks for finished work when commands arrive, again 2 ms later, and then
 * every millisecond. A step of a small network takes less. So while a short wait lasts, the process
 * gets commands: an empty error scope, whose answer comes back in about 0.1 ms whatever the device
 * does. Longer waits are left to the browser: there the commands would take more time from a
 * software adapter than they save.
 */

/** Waits of up to so many milliseconds are short. */
export const SHORT_MS = 5;

/**
 * @template T
 * @param {GPUDevice} device
 * @param {Promise<T>} work is done when the device is; fails when the device is lost
 * @returns {Promise<T>} the same, a little earlier
 */
export async function polled(device, work) {
  const until = performance.now() + SHORT_MS;
  let ended = false;
  const end = work.finally(() => (ended = true));
  while (!ended && performance.now() < until) await Promise.race([end, roundTrip(device)]);
  return end;
}

/** @param {GPUDevice} device */
function roundTrip(device) {
  device.pushErrorScope("internal");
  return device.popErrorScope().catch(() => {}); // of a lost device, which `work` tells
}
