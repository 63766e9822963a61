/** Joins the page, a Python worker and its device workers: shared memory, ports, first messages. */

import { mostDevices } from "./device-links.js";
import { endOfLife } from "./life.js";
import { DeviceCommand, DeviceEvent, PythonCommand } from "./messages.js";
import { Mailbox, createSharedMemory, markGone } from "./shared-memory.js";

/** The worker of a device by its kind. */
const SCRIPTS = {
  cpu: new URL("./cpu-worker.js", import.meta.url),
  gpu: new URL("./device-worker.js", import.meta.url),
};
const FIRST = "gpu:0";

/** Workers that can be lost and replaced in one run, beside those that there can be at most. */
const REPLACEMENTS = 8;

/**
 * @typedef {{kind: string, [field: string]: any}} EngineEvent
 * @typedef {{worker: Worker, lock: string, channel?: number, reply?: SharedArrayBuffer}} Entry
 */

/**
 * Give Python its ends and start it. To restart Python, terminate its worker, end its device
 * workers, and call this again with a new one.
 *
 * @param {Worker} python a new python-worker.js
 * @param {(event: EngineEvent) => void} report gets the events of device workers
 * @param {string} tunings what was measured of GPUs, as `PythonEvent.TUNINGS` said it last
 * @returns {{memory: import("./shared-memory.js").SharedMemory, mailbox: Mailbox,
 *            devices: DeviceWorkers}}
 */
export function connectWorkers(python, report, tunings) {
  const memory = createSharedMemory();
  const devices = new DeviceWorkers(python, memory, report);
  const ports = devices.makePorts(2 * mostDevices() + REPLACEMENTS);
  python.postMessage({ kind: PythonCommand.START, memory, ports, tunings }, ports);
  devices.look();
  const mailbox = new Mailbox(memory, () => python.postMessage({ kind: PythonCommand.POKE }));
  return { memory, mailbox, devices };
}

/** The device workers of one Python worker, started when it wants them. */
export class DeviceWorkers {
  #python;
  #memory;
  #report;
  /** @type {Map<string, Entry>} by device */
  #entries = new Map();
  /** @type {MessagePort[]} the other ends of Python's ports, by channel */
  #ends = [];

  /**
   * @param {Worker} python
   * @param {import("./shared-memory.js").SharedMemory} memory
   * @param {(event: EngineEvent) => void} report
   */
  constructor(python, memory, report) {
    this.#python = python;
    this.#memory = memory;
    this.#report = report;
  }

  /** Channels for workers to come. @param {number} count @returns {MessagePort[]} Python's ends */
  makePorts(count) {
    return Array.from({ length: count }, () => {
      const { port1, port2 } = new MessageChannel();
      this.#ends.push(port2);
      return port1;
    });
  }

  /** Find out whether there is a GPU, by the worker of the first one. */
  look() {
    this.#start(FIRST).worker.postMessage({ kind: DeviceCommand.LOOK });
  }

  /**
   * What Python's worker tells of a device: that it wants one, or gives it up.
   * @param {{device: string, state: string, channel: number, reply: SharedArrayBuffer,
   *          message?: string}} news
   */
  heard({ device, state, channel, reply, message }) {
    if (state === "starting") this.#connect(device, channel, reply);
    else if (this.#entries.get(device)?.channel === channel) this.#end(device, message ?? "");
  }

  /** End all workers. */
  close() {
    for (const { worker } of this.#entries.values()) worker.terminate();
    this.#entries.clear();
  }

  /** @param {string} device @returns {Entry} */
  #start(device) {
    const script = device.startsWith("cpu") ? SCRIPTS.cpu : SCRIPTS.gpu;
    const worker = new Worker(script, { type: "module", name: device });
    const entry = { worker, lock: `playgrad ${device} ${crypto.randomUUID()}` };
    this.#entries.set(device, entry);
    worker.onmessage = ({ data }) => {
      if (this.#entries.get(device) === entry) this.#receive(data, entry);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (this.#entries.get(device) !== entry) return;
      this.#end(device, event.message || "its worker could not be loaded.");
    };
    return entry;
  }

  /** @param {string} device @param {number} channel @param {SharedArrayBuffer} reply */
  #connect(device, channel, reply) {
    const waiting = this.#entries.get(device);
    const entry = waiting && waiting.channel === undefined ? waiting : this.#start(device);
    Object.assign(entry, { channel, reply });
    const port = this.#ends[channel];
    const { control } = this.#memory;
    const { lock } = entry;
    const command = { kind: DeviceCommand.CONNECT, device, lock, control, reply, port };
    entry.worker.postMessage(command, [port]);
    const ports = this.makePorts(1);
    this.#python.postMessage({ kind: PythonCommand.PORTS, ports }, ports);
  }

  /** @param {EngineEvent} event @param {Entry} entry */
  #receive(event, entry) {
    this.#report(event);
    if (event.kind === DeviceEvent.WORKER && event.state === "starting") {
      endOfLife(entry.lock).then(() => {
        if (this.#entries.get(event.device) === entry) this.#end(event.device, "its worker has ended.");
      });
    }
  }

  /** @param {string} device @param {string} message */
  #end(device, message) {
    const entry = this.#entries.get(device);
    if (!entry) return;
    entry.worker.terminate();
    this.#entries.delete(device);
    if (entry.reply) markGone(entry.reply, this.#memory.control);
    this.#report({ kind: DeviceEvent.WORKER, device, state: "lost", message });
  }
}
