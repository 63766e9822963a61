/**
 * A worker that runs a Plan step by step without Python, reads four bytes after each step, and says
 * how long that takes with each way to make the browser look for finished work. It also measures the
 * way to another worker and back.
 */

import { findAdapter, openDevice } from "/static/engine/adapter.js";
import { PipelineCache, encode, prepare } from "/static/engine/program.js";

const STAGED_BYTES = 256;
const MOST_MS = 20;
const ROUNDS = 10;
const HOPS = 300;

/** @param {number[]} times */
const summary = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  return { least: sorted[0], median: sorted[sorted.length >> 1], count: sorted.length };
};

/** Resolves in the next task. */
const nextTask = (() => {
  const { port1, port2 } = new MessageChannel();
  let wake = () => {};
  port1.onmessage = () => wake();
  return () =>
    /** @type {Promise<void>} */ (
      new Promise((resolve) => ((wake = resolve), port2.postMessage(0)))
    );
})();

/** @param {GPUDevice} device @returns {Record<string, ((mapped: Promise<void>) => Promise<unknown>) | null>} */
const ways = (device) => {
  const scope = () => (device.pushErrorScope("internal"), device.popErrorScope());
  return {
    "nothing: the browser's own timer": null,
    "error scopes, one after the other": (mapped) => Promise.race([mapped, scope()]),
    "error scopes, four at a time": (mapped) =>
      Promise.race([mapped, Promise.all([scope(), scope(), scope(), scope()])]),
    "empty submits, one in each task": () => (device.queue.submit([]), nextTask()),
    "empty submits, one in 50 µs": () => (device.queue.submit([]), spaced(0.05)),
    "an error scope and an empty submit": (mapped) => (
      device.queue.submit([]),
      Promise.race([mapped, scope()])
    ),
    onSubmittedWorkDone: (mapped) => Promise.race([mapped, device.queue.onSubmittedWorkDone()]),
  };
};

/** @param {number} milliseconds */
function spaced(milliseconds) {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
  return nextTask();
}

/** @param {import("/static/engine/program.js").Plan} plan */
async function reads(plan) {
  const device = await openDevice(await findAdapter(navigator.gpu));
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const bound = plan.commands.flatMap(({ bindings }) => bindings);
  const buffers = new Map(
    plan.buffers.map(({ id, size: own, external, data }) => {
      const ends = bound.map(([buffer, offset, size]) => (buffer === id ? offset + size : 4));
      const size = external === undefined ? Math.ceil(own / 4) * 4 : 0; // its own size is not here
      const buffer = device.createBuffer({ size: Math.max(size, ...ends), usage });
      const bytes = Uint8Array.from(atob(data ?? ""), (each) => each.charCodeAt(0));
      if (bytes.length) device.queue.writeBuffer(buffer, 0, bytes);
      return [id, buffer];
    }),
  );
  const [dispatches] = await prepare(device, new PipelineCache(device), plan, buffers);
  const [fetch] = Object.values(plan.fetches);
  const read = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
  const staging = device.createBuffer({ size: STAGED_BYTES, usage: read });
  /** @param {((mapped: Promise<void>) => Promise<unknown>) | null} look */
  const step = async (look) => {
    const began = performance.now();
    const copy = device.createCommandEncoder();
    copy.copyBufferToBuffer(buffers.get(fetch.buffer), fetch.offset, staging, 0, 4);
    device.queue.submit([encode(device, dispatches), copy.finish()]);
    let over = false;
    const mapped = staging.mapAsync(GPUMapMode.READ).then(() => void (over = true));
    while (look && !over && performance.now() - began < MOST_MS) await look(mapped);
    await mapped;
    new Uint8Array(staging.getMappedRange()).slice(0, 4);
    staging.unmap();
    return performance.now() - began;
  };
  const rows = Object.entries(ways(device)).map(([name, look]) => ({ name, look, times: [] }));
  for (let round = 0; round < ROUNDS; round++)
    for (const { look, times } of rows)
      for (let count = 0; count < 20; count++) {
        const time = await step(look);
        if (count > 2) times.push(time); // the first ones follow another way
      }
  device.destroy();
  return rows.map(({ name, times }) => ({ name, ...summary(times) }));
}

/** Ask another worker, which answers at once. */
async function hops() {
  const words = new Int32Array(new SharedArrayBuffer(8));
  const other = new Worker(import.meta.url, { type: "module", name: "answers" });
  await new Promise((ready) => ((other.onmessage = ready), other.postMessage({ words })));
  const asleep = (/** @type {number} */ seen) => void Atomics.wait(words, 1, seen);
  const spinning = (/** @type {number} */ seen) => {
    while (Atomics.load(words, 1) === seen);
  };
  const message = () => other.postMessage("ask");
  const notice = () => (Atomics.add(words, 0, 1), Atomics.notify(words, 0));
  const pairs = {
    "a message; asleep until the answer": [message, asleep],
    "a message; looking for the answer all the time": [message, spinning],
    "Atomics.waitAsync; asleep until the answer": [notice, asleep],
  };
  const rows = Object.entries(pairs).map(([name, [ask, wait]]) => ({ name, ask, wait, times: [] }));
  for (let round = 0; round < HOPS; round++)
    for (const { ask, wait, times } of rows) {
      const seen = Atomics.load(words, 1);
      const began = performance.now();
      ask();
      wait(seen);
      times.push(performance.now() - began);
      Atomics.wait(words, 1, seen + 1, 0.2); // as long as Python takes between two steps
    }
  other.terminate();
  return rows.map(({ name, times }) => ({ name, ...summary(times) }));
}

/** Answer messages and notices until the end. @param {Int32Array} words */
function answer(words) {
  const reply = () => (Atomics.add(words, 1, 1), Atomics.notify(words, 1));
  self.onmessage = reply;
  const watch = (/** @type {number} */ seen) =>
    Atomics.waitAsync(words, 0, seen).value.then(() => (reply(), watch(seen + 1)));
  watch(0);
  self.postMessage("ready");
}

self.onmessage = async ({ data }) => {
  if (self.name === "answers") return answer(data.words);
  try {
    self.postMessage({ hops: await hops(), reads: await reads(data.plan) });
  } catch (problem) {
    self.postMessage({ error: String(problem) });
  }
};
