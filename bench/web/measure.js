/** Measures a peer written in JavaScript; `measure.py` does the same in Python. */

let dispatches = 0;

/** Count every compute dispatch of this thread. Call it before the peer is loaded. */
export function countDispatches() {
  const pass = globalThis.GPUComputePassEncoder?.prototype;
  for (const name of ["dispatchWorkgroups", "dispatchWorkgroupsIndirect"]) {
    const original = pass?.[name];
    if (!original) continue;
    pass[name] = function counted(...sizes) {
      dispatches += 1;
      return original.apply(this, sizes);
    };
  }
}

/**
 * Train and time.
 * @param {{step(): unknown, loss(): Promise<number>}} trainer
 *   `step` starts a step, `loss` waits for the loss of the last step
 * @param {{first: number, budget: number, least: number, most: number}} settings
 */
export async function measure(trainer, { first, budget, least, most }) {
  const stepAndRead = async () => {
    await trainer.step();
    return trainer.loss();
  };
  const steps = async (count) => {
    for (let i = 0; i < count; i++) await trainer.step();
    return trainer.loss();
  };
  const losses = [await stepAndRead()];
  const firstStep = performance.now();
  while (losses.length < first) losses.push(await stepAndRead());
  await steps(1);
  let started = performance.now();
  await steps(1);
  const perStep = performance.now() - started;
  const count = Math.max(least, Math.min(most, Math.round((1000 * budget) / perStep)));

  const before = dispatches;
  started = performance.now();
  await steps(count);
  const once = (performance.now() - started) / count;
  const counted = (dispatches - before) / count;
  started = performance.now();
  let last = NaN;
  for (let i = 0; i < count; i++) last = await stepAndRead();
  const each = (performance.now() - started) / count;
  return {
    losses,
    first_step_ms: firstStep,
    once_ms: once,
    each_ms: each,
    last_loss: last,
    steps: first + 2 + 2 * count,
    dispatches: counted || null,
  };
}
