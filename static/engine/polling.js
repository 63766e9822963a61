/**
 * Hearing soon of work that is soon done.
 *
 * Chromium's GPU process looks for finished work when commands arrive, again 2 ms later, and then
 * every millisecond. A step of a small network takes less. So while a short wait lasts, the process
 * gets commands: an empty error scope, whose answer comes back in about 0.1 ms whatever the device
 * does. Longer waits are left to the browser: there the commands would take more time from a
 * software adapter than they save.
 */

/** Waits that are known to take more milliseconds are not short. */
const SHORT_MS = 5;

/**
 * @template T
 * @param {GPUDevice} device
 * @param {Promise<T>} work is done when the device is; fails when the device is lost
 * @param {number} least milliseconds that it takes on an idle machine; 0 if that is not known
 * @returns {Promise<T>} the same, a little earlier if it is short
 */
export async function polled(device, work, least) {
  if (least > SHORT_MS) return work;
  // What takes far longer than it must waits for a core. The commands would take that, too.
  const until = performance.now() + Math.min(SHORT_MS, 2 * least || SHORT_MS);
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
