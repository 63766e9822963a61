/**
 * The page's end of one Python worker: its memory, its mailbox and its private port.
 *
 * A user's program can reach the worker's global scope, so nothing that counts travels through it:
 * messages go over a port that only the engine's modules hold.
 */

import { mostDevices } from "./device-links.js";
import { endOfLife, lockName } from "./life.js";
import { isWellFormed } from "./message-checks.js";
import { Mailbox, createSharedMemory, requestStop } from "./shared-memory.js";

/**
 * @import {
 *   DeviceWorkerRequest, Inheritance, PythonCommand, PythonEvent, PythonWorkerEvent, Template,
 *   ThreadsRequest,
 * } from "./messages.js"
 */

/**
 * @typedef {Exclude<PythonWorkerEvent, {kind: "alive"}> | PythonEvent | DeviceWorkerRequest} InterpreterEvent
 * @typedef {{received: (event: InterpreterEvent) => void, ended: (reason: string) => void,
 *            forged: () => void}} Listener
 *   `received`: a message of the engine; `ended`: the worker has ended or could not be loaded;
 *   `forged`: the user's program posted a message as if it were the engine
 */

export const SCRIPT = new URL("./python-worker.js", import.meta.url);
const THREAD_SCRIPT = new URL("./thread-worker.js", import.meta.url);

/** Workers that can be lost and replaced in one run, in addition to the largest number in use. */
const REPLACEMENTS = 8;

/** Workers that help one Python, at most. */
const MOST_THREADS = 16;

/** How long the worker's scripts may take to arrive; a browser does not report that they do not. */
const START_MS = 12_000;

/**
 * The worker that the document has started (early-python.js), once. Its first message says that its scripts
 * have arrived: what it begins may take longer than they may.
 * @returns {{worker: Worker, hasBegun: boolean} | undefined}
 */
function earlyStart() {
  const { earlyPython } = /** @type {any} */ (globalThis);
  Reflect.deleteProperty(globalThis, "earlyPython");
  return earlyPython;
}

export class Interpreter {
  memory = createSharedMemory();
  mailbox = new Mailbox(this.memory, () => this.send({ kind: "poke" }));
  /** Other ends of the ports for device workers, by channel. @type {MessagePort[]} */
  deviceEnds = [];
  #worker;
  /** They help Python. @type {Worker[]} */
  #threads = [];
  #port;
  #lock = lockName("python");
  #listener;
  #over = false;
  #overdue = 0;
  /** Whether the last one that is up started without an image of its memory. */
  static #isWithoutImage = false;

  /**
   * Start a worker.
   * @param {Listener} listener
   * @param {Template} [template] of an earlier one
   * @param {number} [dataBytes] the size of the data sets that its program will probably read
   */
  constructor(listener, template, dataBytes = 0) {
    this.#listener = listener;
    const early = earlyStart();
    this.#worker = early?.worker ?? new Worker(SCRIPT, { type: "module", name: "python" });
    this.#worker.onmessage = () => {
      if (!early || early.hasBegun) return this.#over || listener.forged();
      early.hasBegun = true;
      clearTimeout(this.#overdue);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#end(`its worker failed: ${event.message || "it could not be loaded"}`);
    };
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#received(data);
    const ports = this.#createPorts(2 * mostDevices() + REPLACEMENTS);
    /** @type {PythonCommand} */
    const start = {
      kind: "start",
      memory: this.memory,
      lock: this.#lock,
      ports,
      port: port2,
      template,
      withoutImage: Interpreter.#isWithoutImage,
      dataBytes,
    };
    this.#worker.postMessage(start, [port2, ...ports]);
    if (early?.hasBegun) return;
    this.#overdue = setTimeout(() => {
      this.#end(`its worker did not start: its scripts have not arrived for ${START_MS / 1000} s`);
    }, START_MS);
  }

  /** Whether the worker has ended or was ended. */
  get over() {
    return this.#over;
  }

  /** @param {InterpreterEvent | {kind: "alive"} | ThreadsRequest} event */
  #received(event) {
    if (this.#over) return;
    clearTimeout(this.#overdue);
    if (!isWellFormed(event)) {
      console.error("A message of Python's worker was dropped:", event);
      this.#listener.forged();
    } else if (event.kind === "alive")
      endOfLife(this.#lock).then(() => this.#end("its worker has ended"));
    else if (event.kind === "threads") this.#startThreads(event);
    else {
      if (event.kind === "ready") Interpreter.#isWithoutImage = !event.isRestored;
      this.#listener.received(event);
    }
  }

  /** Start workers, which end with this one; one that does not start is not missed. @param {ThreadsRequest} request */
  #startThreads({ ports }) {
    if (this.#threads.length + ports.length > MOST_THREADS) return;
    const started = ports.map((port) => {
      const worker = new Worker(THREAD_SCRIPT, { type: "module", name: "thread" });
      worker.onerror = (event) => event.preventDefault();
      worker.postMessage(port, [port]);
      return worker;
    });
    this.#threads.push(...started);
  }

  /** @param {string} reason */
  #end(reason) {
    if (this.#over) return;
    this.terminate();
    this.#listener.ended(reason);
  }

  /** Send a message, which is read when Python is idle. @param {PythonCommand} command @param {MessagePort[]} [transfer] */
  send(command, transfer = []) {
    this.#port.postMessage(command, transfer);
  }

  /** Give the worker the last one's inheritance. @param {Inheritance} inheritance */
  inherit(inheritance) {
    this.send({ kind: "inherit", ...inheritance });
  }

  /** Replace a port that was used. */
  addPort() {
    const ports = this.#createPorts(1);
    this.send({ kind: "ports", ports }, ports);
  }

  /** @param {number} count @returns {MessagePort[]} Python's ends */
  #createPorts(count) {
    return Array.from({ length: count }, () => {
      const { port1, port2 } = new MessageChannel();
      this.deviceEnds.push(port2);
      return port1;
    });
  }

  /** End the worker at once, and the work of devices for it. */
  terminate() {
    this.#over = true;
    clearTimeout(this.#overdue);
    requestStop(this.memory);
    this.#worker.terminate();
    for (const worker of this.#threads) worker.terminate();
    this.#port.close();
  }
}
