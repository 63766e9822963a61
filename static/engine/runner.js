/**
 * Runs Plans on one GPUDevice. Knows buffers of bytes and lists of kernels, never what they mean.
 *
 * It needs no worker: any module that has a GPUDevice can use it.
 */

import { BufferPool } from "./buffers.js";
import { EngineError, fromGpuError, guarded } from "./errors.js";
import { Pace, submitSteps } from "./pacing.js";
import { polled } from "./polling.js";
import { PipelineCache, Program, encode, prepare } from "./program.js";
import { Readback } from "./readback.js";

/**
 * @typedef {number | [number, number]} BufferKey a buffer id, or [program, plan buffer id]
 * @typedef {{program?: number | null, segment?: number, steps?: number,
 *            writes?: [BufferKey, number, Uint8Array][],
 *            reads?: [BufferKey, number, number][]}} Execution
 *   writes: buffer, byte offset, bytes; reads: buffer, byte offset, size
 * @typedef {{steps_done: number, seconds: number, data: Uint8Array | undefined}} ExecuteResult
 *   `data`: the bytes of all reads, one after the other
 */

/** A promise that fails because the device is lost may fail before the loss is announced. */
const LOSS_NEWS_MS = 200;

export class Runner {
  /** Resolves with a message when the device is lost, by accident or by `destroy`. */
  lost;
  #device;
  #stop;
  #pool;
  #readback;
  #pipelines;
  /** @type {Map<number, Program>} */
  #programs = new Map();
  /** @type {Map<string, Pace>} by program and segment */
  #paces = new Map();
  /** @type {Set<(reason: EngineError) => void>} what to reject when the device is lost */
  #waiting = new Set();
  /** @type {EngineError | undefined} */
  #failure;
  #latency = 0;
  #nextProgram = 1;
  /** When the last execution was heard of to have ended. */
  #lastEnd = 0;

  /**
   * @param {GPUDevice} device
   * @param {() => boolean} [stopRequested] asked between steps
   */
  constructor(device, stopRequested = () => false) {
    this.#device = device;
    this.#stop = stopRequested;
    this.#pool = new BufferPool(device);
    this.#readback = new Readback(device);
    this.#pipelines = new PipelineCache(device);
    this.lost = device.lost.then(({ message, reason }) => this.#lose(message.trim() || reason));
    device.addEventListener("uncapturederror", (event) => {
      this.#failure ??= fromGpuError(event.error, "execute");
    });
  }

  /** Measure how fast the browser reports finished work; see pacing.js. */
  async calibrate() {
    await this.#settle(this.#device.queue.onSubmittedWorkDone());
    const started = performance.now();
    await this.#settle(this.#device.queue.onSubmittedWorkDone());
    this.#latency = performance.now() - started;
  }

  /**
   * @param {number} size bytes
   * @returns {Promise<number>} the buffer's id; its content is zero
   * @throws {EngineError} OutOfMemoryError
   */
  async createBuffer(size) {
    this.#check();
    const { value, error } = guarded(this.#device, () => this.#pool.create(size));
    try {
      await this.#refuse(error, `a buffer of ${size.toLocaleString("en")} bytes`);
    } catch (problem) {
      this.#pool.destroy(value);
      throw problem;
    }
    return value;
  }

  /** @param {number} id */
  destroyBuffer(id) {
    this.#pool.destroy(id);
  }

  /**
   * Begin to compile kernels that a plan will need, while other calls are served.
   * @param {import("./program.js").PlanKernel[]} kernels
   */
  expect(kernels) {
    this.#check();
    for (const kernel of kernels) this.#pipelines.get(kernel).catch(() => {}); // `load` will tell
  }

  /**
   * @param {import("./program.js").Plan} plan
   * @param {Record<string, number>} [external] buffer id for every external key of the plan
   * @returns {Promise<number>} the program's id
   * @throws {EngineError} KernelError, OutOfMemoryError; nothing is left behind
   */
  async load(plan, external = {}) {
    this.#check();
    /** @type {Map<number, GPUBuffer>} */
    const buffers = new Map();
    /** @type {number[]} */
    const owned = [];
    try {
      const { error } = guarded(this.#device, () => {
        for (const { id, size, external: key, data } of plan.buffers) {
          if (key === undefined) owned.push(this.#pool.create(size));
          const buffer = this.#pool.get(key === undefined ? owned[owned.length - 1] : external[key]);
          buffers.set(id, buffer);
          if (data) this.#pool.write(buffer, 0, bytesOf(data));
        }
      });
      await this.#refuse(error, "the plan's buffers");
      const segments = await this.#settle(prepare(this.#device, this.#pipelines, plan, buffers));
      this.#programs.set(this.#nextProgram, new Program(buffers, owned, segments));
      return this.#nextProgram++;
    } catch (problem) {
      for (const id of owned) this.#pool.destroy(id);
      throw problem;
    }
  }

  /** @param {number} id */
  unload(id) {
    const { owned, segments } = this.#program(id);
    this.#programs.delete(id);
    for (const buffer of owned) this.#pool.destroy(buffer);
    segments.forEach((_, segment) => this.#paces.delete(`${id}/${segment}`));
  }

  /**
   * The writes, then the steps (one submit each), then the reads; one round trip to the device.
   * @param {Execution} execution
   * @returns {Promise<ExecuteResult>}
   */
  async execute(execution) {
    const end = await this.begin(execution);
    return end();
  }

  /**
   * As `execute`, but only until all is submitted: the next may be begun then, while the device is
   * still at work.
   * @param {Execution} execution
   * @returns {Promise<() => Promise<ExecuteResult>>} waits for the rest; to be called once, in the
   *   order in which executions were begun
   */
  async begin({ program = null, segment = 0, steps = 1, writes = [], reads = [] }) {
    this.#check();
    const started = performance.now();
    for (const [key, offset, bytes] of writes) this.#pool.write(this.#buffer(key), offset, bytes);
    const spans = reads.map(([key, offset, size]) => ({ buffer: this.#buffer(key), offset, size }));
    const pace = program === null ? undefined : this.#pace(program, segment);
    const { submitted, rest } =
      program === null || !pace
        ? { submitted: 0, rest: { steps: 0, since: started } }
        : await this.#replay(program, segment, steps, pace);
    // A mapping tells that the steps before it are done, too.
    const reading = spans.length > 0 ? this.#readback.begin(spans) : undefined;
    const done =
      reading?.mapped ?? (rest.steps > 0 ? this.#device.queue.onSubmittedWorkDone() : undefined);
    done?.catch(() => {}); // told by who waits for it
    return async () => {
      this.#check();
      const since = Math.max(rest.since, this.#lastEnd);
      if (done) await polled(this.#device, this.#settle(done), rest.steps * (pace?.least ?? 0));
      this.#lastEnd = performance.now();
      if (rest.steps > 0) pace?.finished(rest.steps, this.#lastEnd - since);
      this.#check();
      const seconds = (performance.now() - started) / 1000;
      return { steps_done: submitted, seconds, data: reading?.take() };
    };
  }

  /** @throws {EngineError} DeviceLostError: the cheapest way to ask whether the device is alive */
  stats() {
    this.#check();
    return { ...this.#pool.stats(), programs: this.#programs.size };
  }

  destroy() {
    this.#programs.clear();
    this.#pool.clear();
    this.#readback.clear();
    this.#device.destroy();
  }

  /** @param {number} id @param {number} segment */
  #pace(id, segment) {
    const key = `${id}/${segment}`;
    const pace = this.#paces.get(key) ?? new Pace(this.#latency);
    this.#paces.set(key, pace);
    return pace;
  }

  /** @param {number} id @param {number} segment @param {number} steps @param {Pace} pace */
  #replay(id, segment, steps, pace) {
    const prepared = this.#program(id).segments[segment];
    if (!prepared) throw new EngineError("KernelError", `program ${id} has no segment ${segment}`);
    const { queue } = this.#device;
    return submitSteps(steps, pace, {
      submit: (times) => queue.submit([encode(this.#device, prepared, times)]),
      done: () => this.#settle(queue.onSubmittedWorkDone()),
      stop: this.#stop,
    });
  }

  /** @param {number} id */
  #program(id) {
    const program = this.#programs.get(id);
    if (!program) throw new EngineError("KernelError", `there is no program ${id}`);
    return program;
  }

  /** @param {BufferKey} key @returns {GPUBuffer} */
  #buffer(key) {
    if (!Array.isArray(key)) return this.#pool.get(key);
    const buffer = this.#program(key[0]).buffers.get(key[1]);
    if (!buffer) throw new EngineError("KernelError", `program ${key[0]} has no buffer ${key[1]}`);
    return buffer;
  }

  // Failures

  /** @param {string} reason */
  #lose(reason) {
    const failure = new EngineError("DeviceLostError", `the GPU device was lost: ${reason}`);
    this.#failure = failure;
    for (const reject of this.#waiting) reject(failure);
    return failure.message;
  }

  /** A lost device stays lost; any other failure is told once. */
  #check() {
    const failure = this.#failure;
    if (failure && failure.type !== "DeviceLostError") this.#failure = undefined;
    if (failure) throw failure;
  }

  /**
   * Wait for the device, or for its loss: promises of a lost device need not settle.
   * @template T
   * @param {Promise<T>} work
   * @returns {Promise<T>}
   */
  async #settle(work) {
    /** @type {(reason: EngineError) => void} */
    let reject = () => {};
    // Not a race with `lost`: every race would hang one more callback on that one promise.
    const first = new Promise((resolve, fail) => {
      reject = fail;
      work.then(resolve, fail);
    });
    this.#waiting.add(reject);
    try {
      return /** @type {T} */ (await first);
    } catch (problem) {
      if (problem instanceof EngineError) throw problem;
      await Promise.race([this.lost, new Promise((wake) => setTimeout(wake, LOSS_NEWS_MS))]);
      this.#check();
      throw problem;
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** @param {Promise<GPUError | null>} error @param {string} what */
  async #refuse(error, what) {
    const found = await this.#settle(error);
    this.#check();
    if (found) throw fromGpuError(found, what);
  }
}

/** @param {string} base64 @returns {Uint8Array<ArrayBuffer>} */
function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
