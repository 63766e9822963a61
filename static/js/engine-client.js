/**
 * The page's only contact with the engine: starts Python workers and, on their request, device
 * workers; sends requests through the mailbox; replaces what has broken. It knows nothing of what
 * the page shows.
 *
 * Each run gets a Python worker that has run nothing before: a spare one, booted in the background.
 */

import { DeviceWorkers } from "../engine/connect.js";
import { filesReadBy } from "../engine/data-files.js";
import { Interpreter } from "../engine/interpreter.js";
import { clearStop, requestStop } from "../engine/shared-memory.js";
import { recall, remember } from "./storage.js";

/**
 * @import {
 *   Answers, Command, ErrorInfo, PythonEvent, PythonWorkerEvent, Question, Reply,
 * } from "../engine/messages.js"
 * @import { DeviceNews } from "../engine/connect.js"
 * @import { InterpreterEvent } from "../engine/interpreter.js"
 */

/**
 * @typedef {Exclude<PythonWorkerEvent, {kind: "alive" | "data_file"}> | Exclude<PythonEvent, Reply>
 *           | DeviceNews | {kind: "forged"}} EngineEvent
 *   `forged`: a program posted a message as if it were the engine; it was dropped
 * @typedef {{resolve: (answer: any) => void, reject: (error: Error) => void}} Pending
 * @typedef {Extract<PythonWorkerEvent, {kind: "ready"}>} Ready
 */

const TUNINGS = "tunings";

/** How long Python may take to stop before its worker is replaced. */
const STOP_MS = 1500;

/** How long Python may take to answer a question while no program runs. */
const ANSWER_MS = 20_000;

/** How long a run that shows no progress may keep the spare worker from being started. */
const SPARE_MS = 10_000;

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
  #devices;
  /** @type {Interpreter | undefined} */
  #python;
  /** Whether `#python` has run a program. */
  #used = false;
  /** Whether it runs one now. */
  #running = false;
  /** @type {Interpreter | undefined} */
  #spare;
  /** The event with which the spare worker reported that it is ready. @type {Ready | undefined} */
  #spareReady;
  #spareTimer = 0;
  /** Files of the server that a Python worker has fetched, by path. @type {Map<string, Uint8Array>} */
  #files = new Map();
  /** @type {Map<number, Pending>} questions without an answer, by id */
  #pending = new Map();
  #nextId = 1;
  #stopTimer = 0;

  /** @param {(event: EngineEvent) => void} receive gets every event of the workers, in order */
  constructor(receive) {
    this.#receive = receive;
    this.#devices = new DeviceWorkers((event) => this.#receive(event));
  }

  /** Start Python in place of the worker that runs, and look for a GPU. */
  start() {
    clearTimeout(this.#stopTimer);
    this.#replace("the engine was restarted");
    this.#devices.look();
  }

  /** Use the spare worker from now on. @param {string} reason for questions without an answer */
  #replace(reason) {
    this.#python?.terminate();
    this.#devices.release();
    this.#rejectPending(reason);
    const ready = this.#spareReady;
    this.#python = this.#spare ?? this.#open();
    const { kept } = this.#devices;
    this.#python.inherit({ tunings: recall(TUNINGS) ?? "", kept, files: this.#files });
    this.#used = this.#running = false;
    this.#forgetSpare();
    if (ready) this.#receive(ready);
  }

  #open() {
    /** @type {Interpreter} */
    const python = new Interpreter({
      received: (event) => this.#received(event, python),
      forged: () => python === this.#python && this.#receive({ kind: "forged" }),
      ended: (reason) => {
        if (python === this.#spare) this.#forgetSpare();
        else this.#dispatch({ kind: "crash", message: `Python has stopped: ${reason}.` }, python);
      },
    });
    return python;
  }

  #startSpare() {
    clearTimeout(this.#spareTimer);
    if (this.#used && !this.#spare) this.#spare = this.#open();
  }

  #forgetSpare() {
    clearTimeout(this.#spareTimer);
    this.#spare = this.#spareReady = undefined;
  }

  /** @param {InterpreterEvent} event @param {Interpreter} python */
  #received(event, python) {
    if (python === this.#python) this.#dispatch(event, python);
    else if (python !== this.#spare) return;
    else if (event.kind === "ready") this.#spareReady = event;
    else if (event.kind === "crash") {
      python.terminate();
      this.#forgetSpare();
    }
  }

  /** @param {InterpreterEvent} event @param {Interpreter} python */
  #dispatch(event, python) {
    switch (event.kind) {
      case "device_worker":
        this.#devices.serve(event, python);
        return;
      case "reply":
        this.#resolvePending(event);
        return;
      case "data_file":
        this.#files.set(event.path, event.bytes);
        return;
      case "tunings":
        remember(TUNINGS, event.text);
        break;
      case "progress":
        this.#startSpare();
        break;
      case "status":
        this.#running = event.state === "running" || event.state === "paused";
        if (!this.#running) this.#startSpare();
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
    if (files.length > 0) this.#python?.send({ kind: "expect", files });
  }

  /** Send a command. A run begins in a new interpreter. @param {Command} command @param {Uint8Array} [payload] */
  post(command, payload) {
    if (command.kind === "run") this.#prepareRun();
    this.#python?.mailbox.post(command, payload);
  }

  #prepareRun() {
    if (this.#used) this.#replace("a new run has begun");
    this.#used = this.#running = true;
    if (this.#python) clearStop(this.#python.memory);
    this.#spareTimer = setTimeout(() => this.#startSpare(), SPARE_MS);
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
      this.#python?.mailbox.post({ ...question, id }, payload);
      this.#expectAnswer(id);
    });
  }

  /** Replace a Python worker that does not answer although no program runs. @param {number} id */
  #expectAnswer(id) {
    const python = this.#python;
    setTimeout(() => {
      if (!this.#pending.has(id) || !python || python !== this.#python) return;
      if (this.#running) return this.#expectAnswer(id); // it answers between steps, or at the end
      python.terminate();
      this.#dispatch({ kind: "crash", message: `Python did not answer for ${ANSWER_MS / 1000} s.` }, python);
    }, ANSWER_MS);
  }

  /**
   * Interrupt the run.
   * @param {() => void} onOverdue is called if Python does not stop in time
   */
  stop(onOverdue) {
    if (!this.#python) return;
    requestStop(this.#python.memory);
    clearTimeout(this.#stopTimer);
    this.#stopTimer = setTimeout(() => {
      this.#devices.close(); // one of them may be why
      onOverdue();
    }, STOP_MS);
  }

  /** Note that nothing runs any more, so that there is nothing to stop. */
  atRest() {
    clearTimeout(this.#stopTimer);
    if (this.#python) clearStop(this.#python.memory);
  }
}
