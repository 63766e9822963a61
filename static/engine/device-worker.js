/**
 * The device worker: serves the Python worker's calls on its GPU devices, in order.
 *
 * Calls arrive on a message port; each answer is one frame in a ring, because the caller sleeps
 * until it is there. The page connects the two. It outlives Python workers: when the page connects
 * it to the next one, the open devices stay, with their compiled pipelines and their data sets.
 */

import { NoGpuError, describe, findAdapter, openDevice } from "./adapter.js";
import { EngineError } from "./errors.js";
import { holdForLife, stopFlagAtWork } from "./life.js";
import { RingWriter } from "./ring.js";
import { Runner } from "./runner.js";

/**
 * @import {
 *   AdapterInfo, DeviceArguments, DeviceCall, DeviceCommand, DeviceEnds, DeviceEvent, DeviceValues,
 * } from "./messages.js"
 */

/** @typedef {{text: string, payload?: Uint8Array}} Answer */
/**
 * @typedef {{[C in keyof DeviceArguments]: {call: C, argument: DeviceArguments[C]}}} Requests
 * @typedef {Requests[keyof DeviceArguments]} Request a call with its arguments decoded
 */

/** @param {DeviceEvent} event */
const send = (event) => self.postMessage(event);

/** The open GPU devices of this worker, for one Python worker after the other. */
class Gpus {
  /** @type {Map<number, {runner: Runner, info: AdapterInfo, announced: number}>} */
  #opened = new Map();
  /** Messages of lost devices, by number. @type {Map<number, string>} */
  #lost = new Map();
  #nextId = 1;
  /** Whether Python wants the device to stop; each connection sets its own. */
  stopRequested = () => false;

  /** @param {number} id @returns {Runner} */
  get(id) {
    const opened = this.#opened.get(id);
    if (opened) return opened.runner;
    throw new EngineError("DeviceLostError", this.#lost.get(id) ?? "this GPU device was closed");
  }

  /** Free the last Python worker's memory on the devices, except for data sets. */
  async reset() {
    await Promise.all(Array.from(this.#opened.values(), ({ runner }) => runner.reset()));
  }

  /**
   * Open a device, or return the one that the last Python worker opened.
   * @param {string} name
   * @returns {Promise<DeviceValues["open"]>}
   */
  async open(name) {
    for (const [device, { runner, info }] of this.#opened) {
      const kept = Array.from(runner.contents, ([id, { number, size }]) => [id, number, size]);
      return { device, info, kept: /** @type {[number, number, number][]} */ (kept) };
    }
    const { device, info } = await opened();
    const runner = new Runner(device, () => this.stopRequested());
    await runner.calibrate();
    const id = this.#nextId++;
    this.#opened.set(id, { runner, info, announced: 0 });
    runner.lost.then((message) => {
      // `close` loses the device as well, but first removes it.
      if (!this.#opened.delete(id)) return;
      this.#lost.set(id, message);
      report(name, "lost", message);
    });
    // For the developer tools, in which a learner may inspect the device that trains.
    Object.assign(globalThis, { playgradDevice: device });
    return { device: id, info, kept: [] };
  }

  /** @param {number} id */
  close(id) {
    const runner = this.get(id);
    this.#opened.delete(id);
    runner.destroy();
  }

  /** Tell the page which data sets are on the device, if they have changed. @param {string} name */
  announceContents(name) {
    for (const opened of this.#opened.values()) {
      const { contents, contentsVersion } = opened.runner;
      if (opened.announced === contentsVersion) continue;
      opened.announced = contentsVersion;
      send({ kind: "kept_data", device: name, contents });
    }
  }
}

class Connection {
  #gpus;
  #device;
  #answers;
  #port;
  /** Settles when the next call may begin. */
  #begun = Promise.resolve();
  /** Resolves when the last call has been answered. */
  #answered = Promise.resolve();

  /** @param {DeviceEnds} ends @param {Gpus} gpus @param {Connection | undefined} last */
  constructor({ device, port, control, reply }, gpus, last) {
    this.#device = device;
    this.#gpus = gpus;
    this.#port = port;
    this.#answers = new RingWriter(reply, control);
    if (last) this.#begun = last.end().then(() => gpus.reset());
    this.#answered = this.#begun = this.#begun.then(() => {
      gpus.stopRequested = stopFlagAtWork(control, this.#answers);
    });
    port.onmessage = ({ data }) => this.#serve(data);
  }

  /** Take no more calls; the Python worker has ended. @returns {Promise<void>} when the last is answered */
  end() {
    this.#port.close();
    return this.#answered;
  }

  /**
   * Serve a call. Python may make the next call before it takes the answer to the last one, so
   * answers keep the order of calls. An `execute` is submitted while the device is still busy;
   * every other call waits until the device is done.
   * @param {DeviceCall} call
   */
  #serve(call) {
    const answered = this.#answered;
    const begun = this.#begun.then(() =>
      call.call === "execute" ? this.#execute(call) : answered.then(() => this.#alone(call)),
    );
    this.#begun = begun.then(
      () => {},
      () => {},
    );
    this.#answered = answered.then(() => this.#answer(begun));
  }

  /** @param {Promise<() => Promise<Answer>>} begun resolves to a function that awaits the outcome */
  async #answer(begun) {
    try {
      const end = await begun;
      const { text, payload } = await end();
      this.#gpus.announceContents(this.#device);
      this.#answers.pushBlocking(text, payload);
    } catch (problem) {
      this.#answers.pushBlocking(JSON.stringify({ error: errorRecord(problem) }));
    }
  }

  /** @param {DeviceCall} call @returns {Promise<() => Promise<Answer>>} */
  async #execute({ device, text, buffers }) {
    /** @type {DeviceArguments["execute"]} */
    const { writes, ...rest } = JSON.parse(text);
    const end = await this.#gpus.get(device).begin({
      ...rest,
      writes: writes.map(([key, offset], index) => [key, offset, buffers[index]]),
    });
    return async () => {
      const { steps_done: steps, seconds, clock, data } = await end();
      return { text: [steps, seconds, ...clock].join(" "), payload: data };
    };
  }

  /** @param {DeviceCall} call @returns {Promise<() => Promise<Answer>>} */
  async #alone({ call, device, text }) {
    const request = /** @type {Request} */ ({ call, argument: JSON.parse(text) });
    const value = await this.#perform(request, device);
    return async () => ({ text: JSON.stringify({ value }) });
  }

  /**
   * @param {Request} request @param {number} device
   * @returns {Promise<DeviceValues[keyof DeviceValues]>}
   */
  async #perform({ call, argument }, device) {
    if (call === "list") return await listAdapters();
    if (call === "open") return await this.#gpus.open(this.#device);
    const runner = this.#gpus.get(device);
    switch (call) {
      case "close":
        this.#gpus.close(device);
        return null;
      case "create_buffer":
        return await runner.createBuffer(argument.size);
      case "destroy_buffer":
        runner.destroyBuffer(argument.buffer);
        return null;
      case "expect":
        runner.expect(argument.kernels);
        return null;
      case "load":
        return await runner.load(argument.plan, argument.external);
      case "unload":
        runner.unload(argument.program);
        return null;
      case "stats":
        return runner.stats();
      default:
        throw new EngineError("DeviceError", `unknown call ${call}`);
    }
  }
}

/** @returns {Promise<AdapterInfo[]>} */
async function listAdapters() {
  const info = await announce();
  return info ? [info] : [];
}

/**
 * Open a device. The page is told the outcome: after a loss, the adapter may not come back.
 * @returns {Promise<{device: GPUDevice, info: AdapterInfo}>}
 */
async function opened() {
  try {
    const adapter = await findAdapter(navigator.gpu);
    const device = await openDevice(adapter);
    const info = describe(adapter, device);
    send({ kind: "device", available: true, info });
    return { device, info };
  } catch (problem) {
    sayUnavailable(problem);
    throw problem;
  }
}

/** @param {unknown} problem */
function sayUnavailable(problem) {
  const reason = problem instanceof NoGpuError ? problem.reason : null;
  send({ kind: "device", available: false, error: errorRecord(problem).message, reason });
}

/** @param {unknown} problem */
function errorRecord(problem) {
  const message = problem instanceof Error ? problem.message : String(problem);
  if (problem instanceof EngineError)
    return { type: problem.type, message, op: problem.op ?? null };
  return { type: "DeviceError", message, op: null };
}

/** Tell the page which GPU it has: it may have lost it since the last time. @returns {Promise<AdapterInfo | null>} */
async function announce() {
  try {
    const info = describe(await findAdapter(navigator.gpu));
    send({ kind: "device", available: true, info });
    return info;
  } catch (problem) {
    sayUnavailable(problem);
    return null;
  }
}

/** @param {string} device @param {"starting" | "ready" | "lost"} state @param {string} [message] */
function report(device, state, message) {
  send({ kind: "device_worker", device, state, message });
}

class DeviceWorker {
  #gpus = new Gpus();
  /** @type {Connection | undefined} */
  #connection;

  /** @param {DeviceCommand} command */
  receive(command) {
    if (command.kind === "look") announce();
    else if (this.#connection) this.#connect(command);
    else holdForLife(command.lock, () => this.#connect(command));
  }

  /** @param {DeviceEnds} ends */
  #connect(ends) {
    report(ends.device, "starting");
    this.#connection = new Connection(ends, this.#gpus, this.#connection);
    report(ends.device, "ready");
  }
}

const worker = new DeviceWorker();
/** @param {MessageEvent<DeviceCommand>} event */
self.onmessage = ({ data }) => worker.receive(data);
