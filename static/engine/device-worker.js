/**
 * The device worker: serves the Python worker's calls on its GPU devices, in order.
 *
 * Calls come on a message port; each answer is one frame in the reply ring, because the caller is
 * asleep until then. The page connects the two.
 */

import { describe, findAdapter, openDevice } from "./adapter.js";
import { EngineError } from "./errors.js";
import { holdForLife, stopFlagAtWork } from "./life.js";
import { DeviceCall, DeviceCommand, DeviceEvent } from "./messages.js";
import { Runner } from "./runner.js";
import { RingWriter } from "./shared-memory.js";

/**
 * @typedef {{call: string, device: number, text?: string, buffers?: Uint8Array[]}} Call
 *   `text`: the arguments as JSON; `buffers`: the data of `execute`'s writes, in order
 * @typedef {{value: unknown, payload?: Uint8Array}} Answer
 * @typedef {import("./runner.js").BufferKey} BufferKey
 * @typedef {{program: number | null, segment: number, steps: number, writes: [BufferKey, number][],
 *            reads: [BufferKey, number, number][]}} Execution the arguments of `execute`
 */

class Connection {
  #device;
  #answers;
  #stop;
  /** @type {Map<number, Runner>} */
  #runners = new Map();
  #nextDevice = 1;
  /** Settles when the last call has begun so far that the next one may. */
  #begun = Promise.resolve();
  /** Resolves when the last call was answered. */
  #answered = Promise.resolve();

  /**
   * @param {{device: string, port: MessagePort, control: SharedArrayBuffer,
   *          reply: SharedArrayBuffer}} ends
   */
  constructor({ device, port, control, reply }) {
    this.#device = device;
    this.#answers = new RingWriter(reply, control);
    this.#stop = stopFlagAtWork(control, this.#answers);
    port.onmessage = ({ data }) => this.#serve(data);
  }

  /**
   * Python may not have waited for the answer to a call when it makes the next: answers keep the
   * order. What is to be executed is submitted behind what the device is still at; everything else
   * waits until that has ended.
   * @param {Call} call
   */
  #serve(call) {
    const answered = this.#answered;
    const begun = this.#begun.then(() =>
      call.call === DeviceCall.EXECUTE ? this.#execute(call) : answered.then(() => this.#alone(call)),
    );
    this.#begun = begun.then(
      () => {},
      () => {},
    );
    this.#answered = answered.then(() => this.#answer(begun));
  }

  /** @param {Promise<() => Promise<Answer>>} begun gives what waits for the outcome */
  async #answer(begun) {
    try {
      const end = await begun;
      const { value, payload } = await end();
      this.#answers.pushBlocking(JSON.stringify({ value: value ?? null }), payload);
    } catch (problem) {
      this.#answers.pushBlocking(JSON.stringify({ error: errorRecord(problem) }));
    }
  }

  /** @param {Call} call @returns {Promise<() => Promise<Answer>>} */
  async #execute({ device, text = "{}", buffers = [] }) {
    /** @type {Execution} */
    const { writes, ...rest } = JSON.parse(text);
    const end = await this.#runner(device).begin({
      ...rest,
      writes: writes.map(([key, offset], index) => [key, offset, buffers[index]]),
    });
    return async () => {
      const { data, ...value } = await end();
      return { value, payload: data };
    };
  }

  /** @param {Call} call @returns {Promise<() => Promise<Answer>>} */
  async #alone(call) {
    const answer = await this.#perform(call);
    return async () => answer;
  }

  /** @param {number} device @returns {Runner} */
  #runner(device) {
    const runner = this.#runners.get(device);
    if (!runner) throw new EngineError("DeviceLostError", "this GPU device was closed");
    return runner;
  }

  /** @param {Call} call @returns {Promise<Answer>} */
  async #perform({ call, device, text }) {
    const argument = text === undefined ? {} : JSON.parse(text);
    if (call === DeviceCall.LIST) return { value: await listAdapters() };
    if (call === DeviceCall.OPEN) return { value: await this.#open() };
    const runner = this.#runner(device);
    switch (call) {
      case DeviceCall.CLOSE:
        this.#runners.delete(device);
        runner.destroy();
        return { value: null };
      case DeviceCall.CREATE_BUFFER:
        return { value: await runner.createBuffer(argument.size) };
      case DeviceCall.DESTROY_BUFFER:
        return { value: runner.destroyBuffer(argument.buffer) };
      case DeviceCall.EXPECT:
        return { value: runner.expect(argument.kernels) };
      case DeviceCall.LOAD:
        return { value: await runner.load(argument.plan, argument.external) };
      case DeviceCall.UNLOAD:
        return { value: runner.unload(argument.program) };
      case DeviceCall.STATS:
        return { value: runner.stats() };
      default:
        throw new EngineError("DeviceError", `unknown call ${call}`);
    }
  }

  async #open() {
    const adapter = await findAdapter(navigator.gpu);
    const device = await openDevice(adapter);
    const runner = new Runner(device, this.#stop);
    await runner.calibrate();
    const id = this.#nextDevice++;
    this.#runners.set(id, runner);
    runner.lost.then((message) => {
      // Only a loss that nobody asked for is news.
      if (this.#runners.get(id) === runner) report(this.#device, "lost", message);
    });
    // Within reach of the developer tools, where a learner may look at the device that trains.
    Object.assign(globalThis, { playgradDevice: device });
    return { device: id, info: describe(adapter, device) };
  }
}

async function listAdapters() {
  try {
    return [describe(await findAdapter(navigator.gpu))];
  } catch {
    return [];
  }
}

/** @param {unknown} problem */
function errorRecord(problem) {
  const message = problem instanceof Error ? problem.message : String(problem);
  if (problem instanceof EngineError) return { type: problem.type, message, op: problem.op ?? null };
  return { type: "DeviceError", message, op: null };
}

/** Tell the page what there is to train on. */
async function announce() {
  try {
    const info = describe(await findAdapter(navigator.gpu));
    self.postMessage({ kind: DeviceEvent.DEVICE, available: true, info });
  } catch (problem) {
    const { message } = errorRecord(problem);
    self.postMessage({ kind: DeviceEvent.DEVICE, available: false, error: message });
  }
}

/** @param {string} device @param {"starting" | "ready" | "lost"} state @param {string} [message] */
function report(device, state, message) {
  self.postMessage({ kind: DeviceEvent.WORKER, device, state, message });
}

self.onmessage = ({ data }) => {
  if (data.kind === DeviceCommand.LOOK) announce();
  if (data.kind !== DeviceCommand.CONNECT) return;
  holdForLife(data.lock, () => {
    report(data.device, "starting");
    new Connection(data);
    report(data.device, "ready");
  });
};
