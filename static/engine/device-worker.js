/**
 * The device worker: serves the Python worker's calls on its GPU devices, in order.
 *
 * Calls arrive on a message port; each answer is one frame in a ring, because the caller sleeps
 * until it is there. The page connects the two.
 */

import { describe, findAdapter, openDevice } from "./adapter.js";
import { EngineError } from "./errors.js";
import { holdForLife, stopFlagAtWork } from "./life.js";
import { RingWriter } from "./ring.js";
import { Runner } from "./runner.js";

/**
 * @import {
 *   AdapterInfo, DeviceArguments, DeviceCall, DeviceCommand, DeviceEnds, DeviceEvent, DeviceValues,
 * } from "./messages.js"
 */

/** @typedef {{value: DeviceValues[keyof DeviceValues], payload?: Uint8Array}} Answer */
/**
 * @typedef {{[C in keyof DeviceArguments]: {call: C, argument: DeviceArguments[C]}}} Requests
 * @typedef {Requests[keyof DeviceArguments]} Request a call with its arguments decoded
 */

/** @param {DeviceEvent} event */
const send = (event) => self.postMessage(event);

class Connection {
  #device;
  #answers;
  #stop;
  /** @type {Map<number, Runner>} */
  #runners = new Map();
  #nextDevice = 1;
  /** Settles when the next call may begin. */
  #begun = Promise.resolve();
  /** Resolves when the last call has been answered. */
  #answered = Promise.resolve();

  /** @param {DeviceEnds} ends */
  constructor({ device, port, control, reply }) {
    this.#device = device;
    this.#answers = new RingWriter(reply, control);
    this.#stop = stopFlagAtWork(control, this.#answers);
    port.onmessage = ({ data }) => this.#serve(data);
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
      const { value, payload } = await end();
      this.#answers.pushBlocking(JSON.stringify({ value }), payload);
    } catch (problem) {
      this.#answers.pushBlocking(JSON.stringify({ error: errorRecord(problem) }));
    }
  }

  /** @param {DeviceCall} call @returns {Promise<() => Promise<Answer>>} */
  async #execute({ device, text, buffers }) {
    /** @type {DeviceArguments["execute"]} */
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

  /** @param {DeviceCall} call @returns {Promise<() => Promise<Answer>>} */
  async #alone({ call, device, text }) {
    const request = /** @type {Request} */ ({ call, argument: JSON.parse(text) });
    const value = await this.#perform(request, device);
    return async () => ({ value });
  }

  /** @param {number} device @returns {Runner} */
  #runner(device) {
    const runner = this.#runners.get(device);
    if (!runner) throw new EngineError("DeviceLostError", "this GPU device was closed");
    return runner;
  }

  /** @param {Request} request @param {number} device @returns {Promise<Answer["value"]>} */
  async #perform({ call, argument }, device) {
    if (call === "list") return await listAdapters();
    if (call === "open") return await this.#open();
    const runner = this.#runner(device);
    switch (call) {
      case "close":
        this.#runners.delete(device);
        runner.destroy();
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

  /** @returns {Promise<DeviceValues["open"]>} */
  async #open() {
    const adapter = await findAdapter(navigator.gpu);
    const device = await openDevice(adapter);
    const runner = new Runner(device, this.#stop);
    await runner.calibrate();
    const id = this.#nextDevice++;
    this.#runners.set(id, runner);
    runner.lost.then((message) => {
      // `close` loses the device as well, but first removes the runner.
      if (this.#runners.get(id) === runner) report(this.#device, "lost", message);
    });
    // For the developer tools, in which a learner may inspect the device that trains.
    Object.assign(globalThis, { playgradDevice: device });
    return { device: id, info: describe(adapter, device) };
  }
}

/** @returns {Promise<AdapterInfo[]>} */
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

/** Tell the page which GPU it has. */
async function announce() {
  try {
    send({ kind: "device", available: true, info: describe(await findAdapter(navigator.gpu)) });
  } catch (problem) {
    send({ kind: "device", available: false, error: errorRecord(problem).message });
  }
}

/** @param {string} device @param {"starting" | "ready" | "lost"} state @param {string} [message] */
function report(device, state, message) {
  send({ kind: "device_worker", device, state, message });
}

/** @param {MessageEvent<DeviceCommand>} event */
self.onmessage = ({ data }) => {
  if (data.kind === "look") announce();
  else {
    holdForLife(data.lock, () => {
      report(data.device, "starting");
      new Connection(data);
      report(data.device, "ready");
    });
  }
};
