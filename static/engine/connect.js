/** Connects the page, a Python worker and its device workers: shared memory, ports, first messages. */

import { ringBell } from "./control.js";
import { mostDevices } from "./device-links.js";
import { endOfLife } from "./life.js";
import { markGone } from "./ring.js";
import { Mailbox, createSharedMemory } from "./shared-memory.js";

/**
 * @import {
 *   DeviceCommand, DeviceEvent, DeviceWorkerRequest, PythonCommand, SharedMemory,
 * } from "./messages.js"
 */

/** The worker script for each kind of device. */
const SCRIPTS = {
  cpu: new URL("./cpu-worker.js", import.meta.url),
  gpu: new URL("./device-worker.js", import.meta.url),
};
const FIRST = "gpu:0";

/** Workers that can be lost and replaced in one run, in addition to the largest number in use. */
const REPLACEMENTS = 8;

/**
 * @typedef {{worker: Worker, lock: string, channel?: number, reply?: SharedArrayBuffer}} Entry
 */

/**
 * Give the Python worker its ends and start it. To restart Python, terminate its worker, close its
 * device workers, and call this again with a new one.
 *
 * @param {Worker} python a new python-worker.js
 * @param {(event: DeviceEvent) => void} report gets the events of device workers
 * @param {string} tunings measurements of GPUs: the text of the last `tunings` event
 * @returns {{memory: SharedMemory, mailbox: Mailbox, devices: DeviceWorkers}}
 */
export function connectWorkers(python, report, tunings) {
  const memory = createSharedMemory();
  const devices = new DeviceWorkers(python, memory, report);
  const ports = devices.createPorts(2 * mostDevices() + REPLACEMENTS);
  sendToPython(python, { kind: "start", memory, ports, tunings }, ports);
  devices.look();
  const mailbox = new Mailbox(memory, () => sendToPython(python, { kind: "poke" }));
  return { memory, mailbox, devices };
}

/** @param {Worker} python @param {PythonCommand} command @param {MessagePort[]} [transfer] */
export function sendToPython(python, command, transfer = []) {
  python.postMessage(command, transfer);
}

/** @param {Worker} worker @param {DeviceCommand} command @param {MessagePort[]} [transfer] */
function sendToDevice(worker, command, transfer = []) {
  worker.postMessage(command, transfer);
}

/** The device workers of one Python worker, started on its request. */
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
   * @param {SharedMemory} memory
   * @param {(event: DeviceEvent) => void} report
   */
  constructor(python, memory, report) {
    this.#python = python;
    this.#memory = memory;
    this.#report = report;
  }

  /** Channels for future workers. @param {number} count @returns {MessagePort[]} Python's ends */
  createPorts(count) {
    return Array.from({ length: count }, () => {
      const { port1, port2 } = new MessageChannel();
      this.#ends.push(port2);
      return port1;
    });
  }

  /** Find out whether there is a GPU, in the worker of the first one. */
  look() {
    sendToDevice(this.#start(FIRST).worker, { kind: "look" });
  }

  /** Start a worker for Python, or end one that it gives up. @param {DeviceWorkerRequest} request */
  serve(request) {
    const { device, channel } = request;
    if (request.state === "starting") this.#connect(device, channel, request.reply);
    else if (this.#entries.get(device)?.channel === channel) this.#end(device, request.message);
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
    const { lock, worker } = entry;
    sendToDevice(worker, { kind: "connect", device, lock, control, reply, port }, [port]);
    const ports = this.createPorts(1);
    sendToPython(this.#python, { kind: "ports", ports }, ports);
  }

  /** @param {DeviceEvent} event @param {Entry} entry */
  #receive(event, entry) {
    this.#report(event);
    if (event.kind === "device_worker" && event.state === "starting") {
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
    if (entry.reply) {
      markGone(entry.reply);
      ringBell(this.#memory.control);
    }
    this.#report({ kind: "device_worker", device, state: "lost", message });
  }
}
