/**
 * The page's only contact with the engine: starts the Python worker and, on its request, the device
 * workers; sends requests through the mailbox; replaces what has broken. It knows nothing of what
 * the page shows.
 */

import { connectWorkers, sendToPython } from "../engine/connect.js";
import { filesReadBy } from "../engine/data-files.js";
import { clearStop, requestStop } from "../engine/shared-memory.js";
import { recall, remember } from "./storage.js";

/**
 * @import {
 *   Answers, Command, DeviceEvent, DeviceWorkerRequest, ErrorInfo, PythonEvent, PythonWorkerEvent,
 *   Question, Reply, SharedMemory,
 * } from "../engine/messages.js"
 */

/**
 * @typedef {PythonWorkerEvent | Exclude<PythonEvent, Reply> | DeviceEvent} EngineEvent
 * @typedef {{resolve: (answer: any) => void, reject: (error: Error) => void}} Pending
 */

const PYTHON_WORKER = new URL("../engine/python-worker.js", import.meta.url);

const TUNINGS = "tunings";

/** How long Python may take to stop before its worker is replaced. */
const STOP_MS = 1500;

/** An error with which the engine answered. */
export class EngineFailure extends Error {
  /** @param {ErrorInfo} info */
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
  /** @type {SharedMemory | undefined} */
  #memory;
  /** @type {import("../engine/shared-memory.js").Mailbox | undefined} */
  #mailbox;
  /** @type {Map<number, Pending>} questions without an answer, by id */
  #pending = new Map();
  #nextId = 1;
  #stopTimer = 0;

  /** @param {(event: EngineEvent) => void} receive gets every event of the workers, in order */
  constructor(receive) {
    this.#receive = receive;
  }

  /** Start Python and the first device worker, in place of those that run. */
  start() {
    clearTimeout(this.#stopTimer);
    this.#python?.terminate();
    this.#devices?.close();
    this.#rejectPending("the engine was restarted");
    this.#python = this.#open();
    const report = (/** @type {DeviceEvent} */ event) => this.#receive(event);
    const tunings = recall(TUNINGS) ?? "";
    const { memory, mailbox, devices } = connectWorkers(this.#python, report, tunings);
    this.#memory = memory;
    this.#mailbox = mailbox;
    this.#devices = devices;
  }

  #open() {
    const worker = new Worker(PYTHON_WORKER, { type: "module" });
    worker.onmessage = ({ data }) => {
      if (worker === this.#python) this.#dispatch(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker !== this.#python) return;
      worker.terminate();
      this.#python = undefined;
      const message = event.message || "it could not be loaded";
      this.#dispatch({ kind: "crash", message: `python-worker.js failed: ${message}` });
    };
    return worker;
  }

  /** @param {PythonWorkerEvent | PythonEvent | DeviceWorkerRequest} event */
  #dispatch(event) {
    switch (event.kind) {
      case "device_worker":
        this.#devices?.serve(event);
        return;
      case "reply":
        this.#resolvePending(event);
        return;
      case "tunings":
        remember(TUNINGS, event.text);
        break;
      case "crash":
        this.#rejectPending("the engine crashed");
    }
    this.#receive(event);
  }

  /** @param {Reply} reply */
  #resolvePending(reply) {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.ok) pending?.resolve(reply);
    else pending?.reject(new EngineFailure(reply.error));
  }

  /** @param {string} message */
  #rejectPending(message) {
    const failure = new EngineFailure({ type: "EngineError", message, line: null, op: null });
    for (const { reject } of this.#pending.values()) reject(failure);
    this.#pending.clear();
  }

  /** Fetch the files that a program will read, while Python starts. @param {string} source */
  expect(source) {
    const files = filesReadBy(source);
    if (files.length > 0 && this.#python) sendToPython(this.#python, { kind: "expect", files });
  }

  /** Send a command. @param {Command} command */
  post(command) {
    if (command.kind === "run" && this.#memory) clearStop(this.#memory);
    this.#mailbox?.post(command);
  }

  /**
   * Ask a question and wait for the answer.
   * @template {Question} Q
   * @param {Q} question
   * @param {Uint8Array} [payload]
   * @returns {Promise<Answers[Q["kind"]]>}
   * @throws {EngineFailure}
   */
  ask(question, payload) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#mailbox?.post({ ...question, id }, payload);
    });
  }

  /**
   * Interrupt the run.
   * @param {() => void} onOverdue is called if Python does not stop in time
   */
  stop(onOverdue) {
    if (!this.#memory) return;
    requestStop(this.#memory);
    clearTimeout(this.#stopTimer);
    this.#stopTimer = setTimeout(onOverdue, STOP_MS);
  }

  /** Note that nothing runs any more, so that there is nothing to stop. */
  atRest() {
    clearTimeout(this.#stopTimer);
    if (this.#memory) clearStop(this.#memory);
  }
}
