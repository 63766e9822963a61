/** Connects the page, its Python worker and the device workers, which outlive Python workers. */

import { ringBell } from "./control.js";
import { kindOf } from "./kinds.js";
import { endOfLife, lockName } from "./life.js";
import { markGone } from "./ring.js";

/**
 * @import { Interpreter } from "./interpreter.js"
 * @import { Contents, DeviceCommand, DeviceEvent, DeviceWorkerRequest, Template } from "./messages.js"
 */

/** The worker script for devices that execute Plans, and for those on which a Python computes. */
export const SCRIPTS = {
  python: new URL("./cpu-worker.js", import.meta.url),
  plans: new URL("./device-worker.js", import.meta.url),
};
const FIRST = "gpu:0";

/** How long a worker's scripts may take to arrive; a browser does not report that they do not. */
const START_MS = 14_000;

/**
 * @typedef {Exclude<DeviceEvent, {kind: "kept_data"}>} DeviceNews
 * @typedef {{interpreter: Interpreter, channel: number, reply: SharedArrayBuffer}} Connection
 * @typedef {{worker: Worker, lock: string, connection?: Connection}} Entry
 */

/** @param {Worker} worker @param {DeviceCommand} command @param {MessagePort[]} [transfer] */
function sendToDevice(worker, command, transfer = []) {
  worker.postMessage(command, transfer);
}

/** The device workers, started on Python's request and handed from one Python worker to the next. */
export class DeviceWorkers {
  #report;
  /** @type {Map<string, Entry>} by device */
  #entries = new Map();
  /** Data sets on devices, by device. @type {Map<string, Contents>} */
  #kept = new Map();

  /** @param {(event: DeviceNews) => void} report gets the events of device workers */
  constructor(report) {
    this.#report = report;
  }

  /** Data sets that the devices have, for the next Python worker to find again. */
  get kept() {
    return this.#kept;
  }

  /** Find out whether there is a GPU, in the worker of the first one. */
  look() {
    const entry = this.#entries.get(FIRST) ?? this.#start(FIRST);
    sendToDevice(entry.worker, { kind: "look" });
  }

  /**
   * Connect a worker to Python, or end one that Python gives up.
   * @param {DeviceWorkerRequest} request
   * @param {Interpreter} interpreter that requests it
   * @param {Template} [template] from which a processor's worker starts quickly
   */
  serve(request, interpreter, template) {
    const { device, channel } = request;
    if (request.state === "starting")
      this.#connect(device, { interpreter, channel, reply: request.reply }, template);
    else if (this.#entries.get(device)?.connection?.channel === channel)
      this.#end(device, request.message);
  }

  /** Release the workers from a Python worker that has ended; the next one may connect to them. */
  release() {
    for (const { connection } of this.#entries.values()) if (connection) markGone(connection.reply);
  }

  /** End all workers. */
  close() {
    this.release();
    for (const { worker } of this.#entries.values()) worker.terminate();
    this.#entries.clear();
    this.#kept.clear();
  }

  /** @param {string} device @returns {Entry} */
  #start(device) {
    const script = kindOf(device)?.runsPlans ? SCRIPTS.plans : SCRIPTS.python;
    const worker = new Worker(script, { type: "module", name: device });
    const entry = { worker, lock: lockName(device) };
    this.#entries.set(device, entry);
    this.#kept.delete(device);
    const overdue = setTimeout(() => {
      if (this.#entries.get(device) === entry)
        this.#end(device, "its worker did not start in time.");
    }, START_MS);
    worker.onmessage = ({ data }) => {
      clearTimeout(overdue);
      if (this.#entries.get(device) === entry) this.#receive(data, entry);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (this.#entries.get(device) !== entry) return;
      this.#end(device, event.message || "its worker could not be loaded.");
    };
    return entry;
  }

  /** @param {string} device @param {Connection} connection @param {Template} [template] */
  #connect(device, connection, template) {
    let entry = this.#entries.get(device);
    if (entry?.connection?.interpreter === connection.interpreter) {
      entry.worker.terminate(); // Python wants another one: it gave this one up
      entry = undefined;
    }
    entry ??= this.#start(device);
    entry.connection = connection;
    const { interpreter, channel, reply } = connection;
    const { control } = interpreter.memory;
    const port = interpreter.deviceEnds[channel];
    const { lock, worker } = entry;
    sendToDevice(worker, { kind: "connect", device, lock, control, reply, port, template }, [port]);
    interpreter.addPort();
  }

  /** @param {DeviceEvent} event @param {Entry} entry */
  #receive(event, entry) {
    if (event.kind === "kept_data") {
      this.#kept.set(event.device, event.contents);
      return;
    }
    this.#report(event);
    if (event.kind === "device_worker" && event.state === "starting") {
      endOfLife(entry.lock).then(() => {
        if (this.#entries.get(event.device) === entry)
          this.#end(event.device, "its worker has ended.");
      });
    }
  }

  /** @param {string} device @param {string} message */
  #end(device, message) {
    const entry = this.#entries.get(device);
    if (!entry) return;
    entry.worker.terminate();
    this.#entries.delete(device);
    this.#kept.delete(device);
    if (entry.connection) {
      markGone(entry.connection.reply);
      ringBell(entry.connection.interpreter.memory.control);
    }
    this.#report({ kind: "device_worker", device, state: "lost", message });
  }
}
