/** The spare Python worker: booted in the background for the next run. */

import { Interpreter } from "./interpreter.js";

/**
 * @import { PythonWorkerEvent, Template } from "./messages.js"
 * @import { Listener } from "./interpreter.js"
 */

/** @typedef {Extract<PythonWorkerEvent, {kind: "ready"}>} Ready */

export class Spare {
  #onSettled;
  /** @type {Interpreter | undefined} */
  #python;
  /** @type {Ready | undefined} */
  #ready;
  #isPrepared = false;
  /** Sent by the first worker. @type {Template | undefined} */
  template;

  /** @param {() => void} onSettled is called when the worker is ready, has failed to boot or cannot continue for now */
  constructor(onSettled) {
    this.#onSettled = onSettled;
  }

  /** The event with which the worker has reported that it is ready. */
  get ready() {
    return this.#ready;
  }

  /**
   * Boot a worker, unless there is one.
   * @param {(python: () => Interpreter) => Listener} listener hears the worker once it is taken
   * @param {number} dataBytes the size of the data sets that its program will probably read
   */
  boot(listener, dataBytes) {
    if (this.#python) return;
    /** @type {Listener} */
    const later = listener(() => python);
    const python = new Interpreter(
      {
        received: (event) => {
          if (python !== this.#python) return later.received(event);
          if (event.kind === "ready") this.#settle(event);
          else if (event.kind === "template") this.template = event.template;
          else if (event.kind === "crash") this.#failed();
          else if (event.kind === "loading" && event.problem) this.#onSettled();
        },
        ended: (reason) => (python === this.#python ? this.#failed() : later.ended(reason)),
        forged: () => later.forged(),
      },
      this.template,
      dataBytes,
    );
    this.#python = python;
  }

  /** Have the worker, which is ready, import packages. @param {() => Map<string, Uint8Array>} files copies of the packages, by path */
  prepare(files) {
    if (this.#isPrepared || !this.#ready) return;
    this.#isPrepared = true;
    this.#python?.send({ kind: "prepare", files: files() });
  }

  /** Remove the worker from here, ready or not. @returns {Interpreter | undefined} */
  take() {
    const python = this.#python;
    this.#python = this.#ready = undefined;
    this.#isPrepared = false;
    return python;
  }

  #failed() {
    this.take()?.terminate();
    this.#settle(undefined);
  }

  /** @param {Ready | undefined} ready */
  #settle(ready) {
    this.#ready = ready;
    this.#onSettled();
  }
}
