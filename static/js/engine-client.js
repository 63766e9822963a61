/**
 * The page's only contact with the engine: starts Python's worker and, as it wants them, the device
 * workers, sends requests through the mailbox, and starts afresh what has broken. It knows nothing
 * of what is shown.
 */

import { connectWorkers } from "../engine/connect.js";
import { filesWanted } from "../engine/data-files.js";
import { DeviceEvent, PythonCommand, PythonEvent, Request } from "../engine/messages.js";
import { clearStop, requestStop } from "../engine/shared-memory.js";
import { recall, remember } from "./storage.js";

/** @typedef {{kind: string, [field: string]: any}} EngineEvent */

const PYTHON_WORKER = new URL("../engine/python-worker.js", import.meta.url);

const TUNINGS = "tunings";

/** How long Python may take to come to rest after Stop before it is started afresh. */
const STOP_MS = 1500;

/** An error that the engine answered with. */
export class EngineFailure extends Error {
  /** @param {import("./types.js").ErrorInfo} info */
  constructor(info) {
    super(info.message);
    this.info = info;
  }
}

export class EngineClient {
  #receive;
  /** @type {Worker | undefined} */
  #python;
  /** @type {import("../engine/connect.js").DeviceWorkers | undefined} */
  #devices;
  /** @type {import("../engine/shared-memory.js").SharedMemory | undefined} */
  #memory;
  /** @type {import("../engine/shared-memory.js").Mailbox | undefined} */
  #mailbox;
  /** @type {Map<number, {resolve: (reply: EngineEvent) => void, reject: (e: Error) => void}>} */
  #pending = new Map();
  #nextId = 1;
  #stopTimer = 0;

  /** @param {(event: EngineEvent) => void} receive gets every event of the workers, in order */
  constructor(receive) {
    this.#receive = receive;
  }

  /** Start Python and the first device worker. Ends what ran before. */
  start() {
    clearTimeout(this.#stopTimer);
    this.#python?.terminate();
    this.#devices?.close();
    this.#forgetPending("the engine was started afresh");
    this.#python = this.#open();
    const report = (/** @type {EngineEvent} */ event) => this.#receive(event);
    const tunings = recall(TUNINGS) ?? "";
    const { memory, mailbox, devices } = connectWorkers(this.#python, report, tunings);
    this.#memory = memory;
    this.#mailbox = mailbox;
    this.#devices = devices;
  }

  #open() {
    const worker = new Worker(PYTHON_WORKER, { type: "module" });
    worker.onmessage = ({ data }) => {
      if (worker !== this.#python) return;
      if (data.kind === DeviceEvent.WORKER) this.#devices?.heard(data);
      else this.#dispatch(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker !== this.#python) return;
      worker.terminate();
      this.#python = undefined;
      const message = event.message || "it could not be loaded";
      this.#dispatch({ kind: PythonEvent.CRASH, message: `python-worker.js failed: ${message}` });
    };
    return worker;
  }

  /** @param {EngineEvent} event */
  #dispatch(event) {
    if (event.kind === PythonEvent.REPLY) {
      const waiting = this.#pending.get(event.id);
      this.#pending.delete(event.id);
      if (event.ok) waiting?.resolve(event);
      else waiting?.reject(new EngineFailure(event.error));
      return;
    }
    if (event.kind === PythonEvent.TUNINGS) remember(TUNINGS, event.text);
    if (event.kind === PythonEvent.CRASH) this.#forgetPending("the engine broke down");
    this.#receive(event);
  }

  /** @param {string} why */
  #forgetPending(why) {
    const failure = new EngineFailure({ type: "EngineError", message: why, line: null, op: null });
    for (const { reject } of this.#pending.values()) reject(failure);
    this.#pending.clear();
  }

  /** Let what this program will want be fetched while Python starts. @param {string} source */
  expect(source) {
    const files = filesWanted(source);
    if (files.length > 0) this.#python?.postMessage({ kind: PythonCommand.EXPECT, files });
  }

  /**
   * Send a request that has no answer but events.
   * @param {string} kind one of `Request`
   * @param {Record<string, unknown>} [fields]
   */
  post(kind, fields = {}) {
    if (kind === Request.RUN && this.#memory) clearStop(this.#memory);
    this.#mailbox?.post({ ...fields, kind });
  }

  /**
   * Send a request and wait for its reply.
   * @param {string} kind one of `Request`
   * @param {Record<string, unknown>} [fields]
   * @param {Uint8Array} [payload]
   * @returns {Promise<EngineEvent>}
   * @throws {EngineFailure}
   */
  request(kind, fields = {}, payload) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#mailbox?.post({ ...fields, kind, id }, payload);
    });
  }

  /**
   * Interrupt whatever runs.
   * @param {() => void} onOverdue is called if Python does not come to rest in time
   */
  stop(onOverdue) {
    if (!this.#memory) return;
    requestStop(this.#memory);
    clearTimeout(this.#stopTimer);
    this.#stopTimer = setTimeout(onOverdue, STOP_MS);
  }

  /** Python has come to rest: nothing is left to stop. */
  atRest() {
    clearTimeout(this.#stopTimer);
    if (this.#memory) clearStop(this.#memory);
  }
}

export { DeviceEvent, PythonEvent, Request };
