/**
 * Runs Plans on one GPUDevice. It handles buffers of bytes and lists of kernels, never their meaning.
 *
 * It needs no worker: any module with a GPUDevice can use it.
 */

import { BufferPool, checkSpan } from "./buffers.js";
import { DeviceFailures } from "./device-failures.js";
import { EngineError, guarded } from "./errors.js";
import { Pace, submitSteps } from "./pacing.js";
import { polled } from "./polling.js";
import { PipelineCache, Program, encode, prepare } from "./program.js";
import { Readback } from "./readback.js";

/** @import { BufferKey, Contents } from "./messages.js" */

/**
 * @typedef {{program?: number | null, segment?: number, steps?: number,
 *            writes?: [BufferKey, number, Uint8Array][],
 *            reads?: [BufferKey, number, number][]}} Execution
 *   writes: buffer, byte offset, bytes; reads: buffer, byte offset, size
 * @typedef {{steps_done: number, seconds: number, clock: [number, number, number],
 *            data: Uint8Array | undefined}} ExecuteResult
 *   `clock`: when it began, when all was submitted and when it was done, in milliseconds since 1970;
 *   `data`: the bytes of all reads, concatenated
 */

export class Runner {
  #device;
  #failures;
  #stop;
  #pool;
  #readback;
  #pipelines;
  /** @type {Map<number, Program>} */
  #programs = new Map();
  /** @type {Map<string, Pace>} by program and segment */
  #paces = new Map();
  #latency = 0;
  #nextProgram = 1;
  /** When the last execution was reported finished. */
  #lastEnd = 0;

  /**
   * @param {GPUDevice} device
   * @param {() => boolean} [stopRequested] is called between steps
   */
  constructor(device, stopRequested = () => false) {
    this.#device = device;
    this.#stop = stopRequested;
    this.#pool = new BufferPool(device);
    this.#readback = new Readback(device);
    this.#pipelines = new PipelineCache(device);
    this.#failures = new DeviceFailures(device);
  }

  /** Resolves with a message when the device is lost, by accident or by `destroy`. */
  get lost() {
    return this.#failures.lost;
  }

  /** Measure how quickly the browser reports finished work; see pacing.js. */
  async calibrate() {
    await this.#failures.wait(this.#device.queue.onSubmittedWorkDone());
    const started = performance.now();
    await this.#failures.wait(this.#device.queue.onSubmittedWorkDone());
    this.#latency = performance.now() - started;
  }

  /**
   * @param {number} size bytes
   * @returns {Promise<number>} the id of the buffer, which is zeroed
   * @throws {EngineError} OutOfMemoryError
   */
  async createBuffer(size) {
    this.#failures.check();
    const { value, error } = guarded(this.#device, () => this.#pool.create(size));
    try {
      await this.#failures.throwIfRefused(error, `a buffer of ${size.toLocaleString("en")} bytes`);
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
   * Begin to compile the kernels of a future plan, while other calls are served.
   * @param {import("./program.js").PlanKernel[]} kernels
   */
  expect(kernels) {
    this.#failures.check();
    for (const kernel of kernels) this.#pipelines.get(kernel).catch(() => {}); // `load` reports it
  }

  /**
   * @param {import("./program.js").Plan} plan
   * @param {Record<string, number>} [external] buffer id for every external key of the plan
   * @returns {Promise<number>} the program's id
   * @throws {EngineError} KernelError, OutOfMemoryError; nothing is left behind
   */
  async load(plan, external = {}) {
    this.#failures.check();
    /** @type {Map<number, GPUBuffer>} */
    const buffers = new Map();
    /** @type {number[]} */
    const owned = [];
    try {
      const { error } = guarded(this.#device, () => {
        for (const id of writtenIn(plan)) this.#pool.forgetContent(external[id]);
        for (const { id, size, external: key, data } of plan.buffers) {
          if (key === undefined) owned.push(this.#pool.create(size));
          else this.#pool.noteUse(external[key]);
          const buffer = this.#pool.get(
            key === undefined ? owned[owned.length - 1] : external[key],
          );
          buffers.set(id, buffer);
          if (data) this.#pool.write(buffer, 0, bytesOf(data));
        }
      });
      await this.#failures.throwIfRefused(error, "the plan's buffers");
      const segments = await this.#failures.wait(
        prepare(this.#device, this.#pipelines, plan, buffers),
      );
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
   * Write, run the steps (one submit each), then read, in one round trip to the device.
   * @param {Execution} execution
   * @returns {Promise<ExecuteResult>}
   */
  async execute(execution) {
    const end = await this.begin(execution);
    return end();
  }

  /**
   * Submit an execution. The next one may begin as soon as this resolves, while the device is still
   * busy.
   * @param {Execution} execution
   * @returns {Promise<() => Promise<ExecuteResult>>} a function that waits for the result; to be
   *   called once, in the order in which executions were begun
   */
  async begin({ program = null, segment = 0, steps = 1, writes = [], reads = [] }) {
    this.#failures.check();
    const started = performance.now();
    for (const [key, offset, bytes] of writes) {
      this.#pool.write(this.#buffer(key), offset, bytes);
      if (!Array.isArray(key)) this.#pool.noteContent(key, offset, bytes);
    }
    const spans = reads.map(([key, offset, size]) => ({ buffer: this.#buffer(key), offset, size }));
    for (const span of spans) checkSpan("read", span); // before any step
    const pace = program === null ? undefined : this.#pace(program, segment);
    const { submitted, rest, held } =
      program === null || !pace
        ? { submitted: 0, rest: { steps: 0, since: started }, held: [] }
        : await this.#replay(program, segment, steps, pace);
    // A mapping resolves after the steps before it.
    const reading = spans.length > 0 ? this.#readback.begin(spans, held) : undefined;
    if (!reading && held.length > 0) this.#device.queue.submit(held);
    const done =
      reading?.mapped ?? (rest.steps > 0 ? this.#device.queue.onSubmittedWorkDone() : undefined);
    done?.catch(() => {}); // reported where it is awaited
    const sent = performance.now();
    return async () => {
      this.#failures.check();
      const since = Math.max(rest.since, this.#lastEnd);
      if (done)
        await polled(this.#device, this.#failures.wait(done), rest.steps * (pace?.least ?? 0));
      this.#lastEnd = performance.now();
      if (rest.steps > 0) pace?.finished(rest.steps, this.#lastEnd - since);
      this.#failures.check();
      return {
        steps_done: submitted,
        seconds: (this.#lastEnd - started) / 1000,
        clock: [since1970(started), since1970(sent), since1970(this.#lastEnd)],
        data: reading?.take(),
      };
    };
  }

  /** Counts of allocated objects; the cheapest way to check for a loss. @throws {EngineError} */
  stats() {
    this.#failures.check();
    return { ...this.#pool.stats(), programs: this.#programs.size };
  }

  /** The data sets on the device: the whole content of their buffers, by id. @returns {Contents} */
  get contents() {
    return this.#pool.contents;
  }

  /** Counts the changes of `contents`. */
  get contentsVersion() {
    return this.#pool.contentsVersion;
  }

  /** Wait for the device, then free programs and buffers; data sets and pipelines stay. */
  async reset() {
    await Promise.race([this.#device.queue.onSubmittedWorkDone(), this.lost]);
    for (const id of [...this.#programs.keys()]) this.unload(id);
    this.#pool.reset();
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

  /**
   * Submit steps, except for the last of them, which are `held`: a read that follows shares their submit.
   * @param {number} id @param {number} segment @param {number} steps @param {Pace} pace
   * @returns {Promise<Awaited<ReturnType<typeof submitSteps>> & {held: GPUCommandBuffer[]}>}
   */
  async #replay(id, segment, steps, pace) {
    const prepared = this.#program(id).segments[segment];
    if (!prepared) throw new EngineError("KernelError", `program ${id} has no segment ${segment}`);
    const { queue } = this.#device;
    /** @type {GPUCommandBuffer[]} */
    let held = [];
    const submitHeld = () => {
      if (held.length > 0) queue.submit(held);
      held = [];
    };
    const result = await submitSteps(steps, pace, {
      submit: (times) => {
        submitHeld();
        held = [encode(this.#device, prepared, times)];
      },
      done: () => {
        submitHeld();
        return this.#failures.wait(queue.onSubmittedWorkDone());
      },
      stop: this.#stop,
    });
    return { ...result, held };
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
}

/** @param {number} time by this worker's clock, in milliseconds */
const since1970 = (time) => performance.timeOrigin + time;

/** Keys of the external buffers that a plan's kernels write to. @param {import("./program.js").Plan} plan */
function writtenIn({ buffers, kernels, commands }) {
  const access = new Map(kernels.map((kernel) => [kernel.id, kernel.access]));
  const keys = new Map(buffers.map(({ id, external }) => [id, external]));
  const written = commands.flatMap(({ kernel, bindings }) =>
    bindings.flatMap(([buffer], index) =>
      access.get(kernel)?.[index] === "read" ? [] : [keys.get(buffer)],
    ),
  );
  return new Set(written.filter((key) => key !== undefined));
}

/** @param {string} base64 @returns {Uint8Array<ArrayBuffer>} */
function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
