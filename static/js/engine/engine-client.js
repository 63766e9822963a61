/**
 * The page's only contact with the engine: starts Python workers and, on their request, device
 * workers; sends requests through the mailbox; replaces broken workers. It knows nothing of what
 * the page shows.
 *
 * Each run gets a Python worker that has run nothing before: a spare one, booted in the background.
 * If none can be booted, because the server cannot be reached, the run uses the worker of the last.
 */

import { DeviceWorkers } from "../../engine/connect.js";
import { LATER_LIBRARY, ONNX, filesReadBy, isCode, isPackage } from "../../engine/data-files.js";
import { DataStore } from "../../engine/data-store.js";
import { clearStop, requestInterrupt, requestStop } from "../../engine/shared-memory.js";
import { Interpreter } from "../../engine/interpreter.js";
import { Spare } from "../../engine/spare.js";
import { t } from "../words/locale.js";
import { recall, remember } from "../state/storage.js";
import { dataProblem, inWords, said } from "./engine-words.js";
import { Hush } from "./hush.js";

/**
 * @import {
 *   Answers, Command, ErrorInfo, PythonEvent, PythonWorkerEvent, Question, Reply,
 * } from "../../engine/messages.js"
 * @import { DeviceNews } from "../../engine/connect.js"
 * @import { InWords } from "./engine-words.js"
 * @import { InterpreterEvent } from "../../engine/interpreter.js"
 */

/**
 * @typedef {InWords<Exclude<PythonWorkerEvent, {kind: "alive" | "data_file" | "template"}> | DeviceNews>
 *           | Exclude<PythonEvent, Reply> | {kind: "forged"} | {kind: "reused"} | {kind: "data_problem", problem: string}
 *           | {kind: "data_awaited", awaited: import("../../engine/data-store.js").Awaited | null}
 *           | {kind: "data_arrived", path: string}} EngineEvent
 *   `forged`: a program posted a message as if it were the engine; it was dropped;
 *   `reused`: a run begins in the Python worker of the last one;
 *   `data_awaited`: a program waits for a data set, or, with null, no longer;
 *   `data_problem`: a data set does not arrive, in a sentence, or "" when all is well
 * @typedef {{kind: string, resolve: (answer: any) => void, reject: (error: Error) => void}} Pending
 */

const TUNINGS = "tunings";

/** How long Python may take to stop before its worker is replaced. */
const STOP_MS = 1500;

/** Between two interrupts of the prompt. */
const INTERRUPT_MS = 250;

/** How long Python may take to answer a question while no program runs. */
const ANSWER_MS = 20_000;

/** Questions that may take longer: a large file, and parts of the work on a large network. @type {ReadonlySet<string>} */
const UNHURRIED = new Set([
  "model_file",
  "graph_files",
  "shrink_next",
  "shrink_report",
  "shrink_export",
  "speed_begin",
  "speed_next",
]);

/** How long a run that shows no progress may keep the spare worker from being started, and one that does. */
const SPARE_MS = 10_000;
const PROGRESS_MS = 1000;

/** How long a run waits for a spare worker that is booting and does not say why it takes so long. */
const BOOT_MS = 60_000;

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
  /** Whether `#python` has started. */
  #started = false;
  /** Whether it has run a program. */
  #used = false;
  /** Whether it runs one now. */
  #running = false;
  /** Whether that has shown progress. */
  #progresses = false;
  /** What it says of the run before is not heard. */
  #hush = new Hush();
  #spare = new Spare(() => {
    this.#beginHeld();
    this.#prepareSpare();
  });
  /** The paths of the code that the last program imported. @type {Set<string>} */
  #imported = new Set();
  #spareTimer = 0;
  /** A run that waits for the spare worker, with the commands after it. @type {[Command, Uint8Array?][]} */
  #held = [];
  #heldTimer = 0;
  #data = new DataStore({
    arrived: (path, bytes) => {
      if (!isCode(path)) this.#python?.send({ kind: "files", files: new Map([[path, bytes]]) });
      this.#receive({ kind: "data_arrived", path });
    },
    awaited: (awaited) => this.#receive({ kind: "data_awaited", awaited }),
    problem: (problem) => this.#receive({ kind: "data_problem", problem: dataProblem(problem) }),
    yours: async (path) => (await import("../own-data/user-data.js")).readFile(path),
  });
  /** @type {Map<number, Pending>} questions without an answer, by id */
  #pending = new Map();
  #nextId = 1;
  #stopTimer = 0;
  /** Questions of the prompt among them. @type {Set<number>} */
  #prompts = new Set();
  #interruptTimer = 0;

  /** @param {(event: EngineEvent) => void} receive gets every event of the workers, in order */
  constructor(receive) {
    this.#receive = receive;
    this.#devices = new DeviceWorkers((event) => this.#receive(inWords(event)));
  }

  /** Start Python in place of the worker that runs, and look for a GPU. */
  start() {
    clearTimeout(this.#stopTimer);
    this.#takeHeld();
    this.#replace(t().errors.restarted);
    this.#devices.look();
  }

  /** Use the spare worker from now on. @param {string} reason for questions without an answer */
  #replace(reason) {
    this.#python?.terminate();
    this.#devices.release();
    this.#rejectPending(reason);
    clearTimeout(this.#spareTimer);
    this.#bootSpare(true); // unless there is one
    const { ready } = this.#spare;
    this.#python = /** @type {Interpreter} */ (this.#spare.take());
    const { kept } = this.#devices;
    this.#python.inherit({ tunings: recall(TUNINGS) ?? "", kept, files: this.#data.contents });
    this.#used = this.#running = false;
    this.#hush.reason = null;
    this.#started = ready !== undefined;
    if (ready) this.#receive(ready);
  }

  /** @param {boolean} [isUrgent] */
  #bootSpare(isUrgent) {
    clearTimeout(this.#spareTimer);
    this.#spare.boot(
      (python) => ({
        received: (event) => python() === this.#python && this.#dispatch(event, python()),
        forged: () => {
          if (python() === this.#python && !this.#hush.reason) this.#receive({ kind: "forged" });
        },
        ended: (sentence) => {
          const reason = said(sentence);
          if (python() !== this.#python) return;
          this.#dispatch({ kind: "crash", message: t().errors.ended(reason) }, python());
        },
      }),
      this.#data.bytes,
      isUrgent,
    );
  }

  /** @param {InterpreterEvent} event @param {Interpreter} python */
  #dispatch(event, python) {
    if (this.#hush.drops(event)) {
      if (event.kind === "crash") this.#beginInSpare();
      return; // output of tasks that the last program left, for example
    }
    switch (event.kind) {
      case "device_worker":
        this.#devices.serve(event, python, this.#spare.template);
        return;
      case "reply":
        this.#resolvePending(event);
        return;
      case "ready":
        this.#started = true;
        break;
      case "data_file":
        if (isPackage(event.path) || event.path === LATER_LIBRARY) this.#imported.add(event.path);
        this.#data.serve(event, python);
        return;
      case "template":
        this.#spare.inherit(event.template);
        return;
      case "tunings":
        remember(TUNINGS, event.text);
        break;
      case "progress":
        if (!this.#progresses) this.#awaitSpare(PROGRESS_MS); // a short run needs the processor
        this.#progresses = true;
        break;
      case "status":
        this.#running = event.state === "running" || event.state === "paused";
        if (!this.#running && this.#used) this.#bootSpare();
        this.#prepareSpare();
        break;
      case "crash":
        this.#rejectPending(event.message);
    }
    this.#receive(inWords(event));
  }

  /** Have the spare worker import the last program's packages, while nothing runs: it takes seconds. */
  #prepareSpare() {
    if (!this.#running && this.#imported.size > 0)
      this.#spare.prepare(() => this.#data.codeOf(this.#imported));
  }

  /** @param {Reply} reply */
  #resolvePending(reply) {
    const pending = this.#pending.get(reply.id);
    if (reply.ok && pending && reply.question !== pending.kind) {
      this.#receive({ kind: "forged" });
      return;
    }
    this.#pending.delete(reply.id);
    if (this.#prompts.delete(reply.id)) clearInterval(this.#interruptTimer);
    if (reply.ok) pending?.resolve(reply.answer);
    else pending?.reject(new EngineFailure(reply.error));
  }

  /** @param {string} message */
  #rejectPending(message) {
    const failure = new EngineFailure({ type: "EngineError", message, line: null, op: null });
    for (const { reject } of this.#pending.values()) reject(failure);
    this.#pending.clear();
    this.#prompts.clear();
    clearInterval(this.#interruptTimer);
  }

  /** Whether the next run can begin at once, in an interpreter of its own. */
  get canBegin() {
    return !this.#used || this.#spare.ready !== undefined;
  }

  /**
   * Start an interpreter beside that of the page, which shares its data sets and has devices of its own.
   * @param {(event: Exclude<InterpreterEvent, {kind: "data_file" | "template" | "device_worker"}>) => void} received
   * @param {(reason: string) => void} ended is called if it ends by itself
   * @returns {{post: (message: Command | (Question & {id: number})) => void, close: () => void}}
   */
  open(received, ended) {
    const devices = new DeviceWorkers(() => {});
    const python = new Interpreter(
      {
        received: (event) => {
          if (event.kind === "data_file") this.#data.serve(event, python);
          else if (event.kind === "device_worker")
            devices.serve(event, python, this.#spare.template);
          else if (event.kind !== "template") received(event);
        },
        forged: () => {},
        ended: (reason) => ended(said(reason)),
      },
      this.#spare.template,
      this.#data.bytes,
    );
    const tunings = recall(TUNINGS) ?? "";
    python.inherit({ tunings, kept: devices.kept, files: this.#data.contents });
    return {
      post: (message) => python.mailbox.post(message),
      close: () => {
        python.terminate();
        devices.close();
      },
    };
  }

  /** Have the next interpreter start quickly. */
  async prepareToOpen() {
    await this.#spare.prepareTemplate();
  }

  /** Look for a GPU again. */
  look() {
    this.#devices.look();
  }

  /** Fetch the files that a program will read. @param {string} source */
  expect(source) {
    this.#data.expect(filesReadBy(source));
  }

  /** Have the part of the library for ONNX files ready, so that Python does not wait for it. @throws {Error} a LoadError: it is not available */
  async expectOnnx() {
    await this.#data.obtain(ONNX);
  }

  /** Send a command. A run begins in a new interpreter. @param {Command} command @param {Uint8Array} [payload] */
  post(command, payload) {
    const waits = command.kind === "run" ? !this.canBegin : this.#held.length > 0;
    if (waits) {
      this.#held.push([command, payload]);
      if (command.kind === "run") this.#hold();
    } else {
      if (command.kind === "run") this.#prepareRun(command.source);
      else if (command.kind === "reset" && this.#started) this.#hush.reason = "reset";
      this.#python?.mailbox.post(command, payload);
    }
  }

  #hold() {
    this.#running = true;
    this.#hush.reason = "waiting";
    clearTimeout(this.#heldTimer);
    this.#heldTimer = setTimeout(() => this.#beginHeld(), BOOT_MS);
    this.#bootSpare();
  }

  /** Begin the run that waited for the spare worker, with or without one. */
  #beginHeld() {
    const held = this.#takeHeld();
    if (held.length === 0) return;
    if (!this.#spare.ready) {
      this.#hush.reason = "reused";
      this.#receive({ kind: "reused" });
    }
    this.#beginNow(held);
  }

  /** Go on in the spare worker, ready or not, with the run that waits: the worker of the last run has ended. */
  #beginInSpare() {
    const held = this.#takeHeld();
    this.#replace(t().errors.newRun);
    if (held.length > 0) this.#beginNow(held);
  }

  /** @param {[Command, Uint8Array?][]} held */
  #beginNow(held) {
    const run = held.find(([{ kind }]) => kind === "run")?.[0];
    this.#prepareRun(run?.kind === "run" ? run.source : "");
    for (const [command, payload] of held) this.#python?.mailbox.post(command, payload);
  }

  #takeHeld() {
    clearTimeout(this.#heldTimer);
    const held = this.#held;
    this.#held = [];
    return held;
  }

  /** @param {string} source */
  #prepareRun(source) {
    // In a worker that was prepared, a program asks for no package.
    if (!/\b(matplotlib|pandas|PIL)\b/.test(source)) this.#imported.clear();
    if (this.#used && this.#spare.ready) this.#replace(t().errors.newRun);
    this.#used = this.#running = true;
    if (this.#python) clearStop(this.#python.memory);
    this.#progresses = false;
    this.#awaitSpare(SPARE_MS);
  }

  /** Boot the spare worker after a while. @param {number} milliseconds */
  #awaitSpare(milliseconds) {
    clearTimeout(this.#spareTimer);
    this.#spareTimer = setTimeout(() => this.#bootSpare(), milliseconds);
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
      this.#pending.set(id, { kind: question.kind, resolve, reject });
      this.#python?.mailbox.post({ ...question, id }, payload);
      if (question.kind === "prompt")
        this.#prompts.add(id); // the visitor's code may take its time
      else if (!UNHURRIED.has(question.kind)) this.#expectAnswer(id);
    });
  }

  /** Replace a Python worker that does not answer although no program runs. @param {number} id */
  #expectAnswer(id) {
    const python = this.#python;
    setTimeout(() => {
      if (!this.#pending.has(id) || !python || python !== this.#python) return;
      // It answers between steps, at the end, or once it has started: on a slow line that takes longer.
      if (this.#running || this.#prompts.size > 0 || !this.#started) return this.#expectAnswer(id);
      python.terminate();
      this.#dispatch({ kind: "crash", message: t().errors.noAnswer(ANSWER_MS / 1000) }, python);
    }, ANSWER_MS);
  }

  /**
   * Interrupt the run.
   * @param {() => void} onOverdue is called if Python does not stop in time
   */
  stop(onOverdue) {
    if (!this.#python) return;
    if (this.#takeHeld().length > 0) {
      this.#running = false;
      this.post({ kind: "reset" }); // or the prompt would have the names of the run before
      this.#hush.reason = "stopped";
      this.#receive({ kind: "status", state: "stopped" });
      return;
    }
    requestStop(this.#python.memory);
    clearTimeout(this.#stopTimer);
    this.#stopTimer = setTimeout(() => {
      this.#devices.close(); // one of them may be why
      onOverdue();
    }, STOP_MS);
  }

  /**
   * Interrupt the code of the prompt.
   * @param {() => void} onOverdue is called if it does not end in time
   */
  interruptPrompt(onOverdue) {
    clearInterval(this.#interruptTimer);
    const began = performance.now();
    let isOverdue = false;
    // An interrupt is lost if it arrives where Python drops exceptions, as in a destructor.
    const interrupt = () => {
      if (!this.#python) return;
      requestInterrupt(this.#python.memory);
      if (isOverdue || performance.now() - began < STOP_MS) return;
      isOverdue = true;
      onOverdue();
    };
    interrupt();
    this.#interruptTimer = setInterval(interrupt, INTERRUPT_MS);
  }

  /** Note that nothing runs any more, so that there is nothing to stop. */
  atRest() {
    clearTimeout(this.#stopTimer);
    if (this.#python) clearStop(this.#python.memory);
  }
}
