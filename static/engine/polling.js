/**
 * Notices early that short work is done.
 *
 * Chromium's GPU process checks for finished work when commands arrive, again 2 ms later, and then
 * every millisecond. A step of a small network takes less time. During a short wait, the process
 * therefore gets commands: empty error scopes, each of which returns in about 0.1 ms even if the
 * device is busy. Longer waits are left to the browser: there, the commands would take more time from
 * a software adapter than they save.
 */

/** Waits longer than this many milliseconds are not short. */
const SHORT_MS = 5;

/**
 * @template T
 * @param {GPUDevice} device
 * @param {Promise<T>} work resolves when the device is done, rejects when it is lost
 * @param {number} least its duration on an idle machine in milliseconds; 0 if unknown
 * @returns {Promise<T>} the same result, a little earlier if the wait is short
 */
export async function polled(device, work, least) {
  if (least > SHORT_MS) return work;
  // Work that takes far longer waits for a processor core, for which the commands would compete.
  const until = performance.now() + Math.min(SHORT_MS, 2 * least || SHORT_MS);
  let ended = false;
  const end = work.finally(() => (ended = true));
  while (!ended && performance.now() < until) await Promise.race([end, roundTrip(device)]);
  return end;
}

/** @param {GPUDevice} device */
function roundTrip(device) {
  device.pushErrorScope("internal");
  return device.popErrorScope().catch(() => {}); // the device is lost, which `work` reports
}
