/** The spare Python worker: booted in the background for the next run. */

import { moveToSharedMemory } from "./downloads.js";
import { Interpreter } from "./interpreter.js";

/**
 * @import { PythonWorkerEvent, Template } from "./messages.js"
 * @import { Listener } from "./interpreter.js"
 */

/** @typedef {Extract<PythonWorkerEvent, {kind: "ready"}>} Ready */

/** How long a template waits for the page to need it, in milliseconds. */
const REST_MS = 2000;

/** @param {Template} template @returns {Promise<Template>} in shared memory */
async function shared({ image, runtime, ...compiled }) {
  const files = Object.entries(runtime).map(
    async ([url, bytes]) => /** @type {const} */ ([url, await moveToSharedMemory(bytes)]),
  );
  const moved = { image: await moveToSharedMemory(image), runtime: await Promise.all(files) };
  return { ...compiled, ...moved, runtime: Object.fromEntries(moved.runtime) };
}

export class Spare {
  #onSettled;
  /** @type {Interpreter | undefined} */
  #python;
  /** @type {Ready | undefined} */
  #ready;
  #isPrepared = false;
  /** Of the first worker, in shared memory. @type {Template | undefined} */
  #template;
  /** What that worker has sent, until it is moved there. @type {Template | undefined} */
  #sent;
  /** While it is moved. @type {Promise<void> | undefined} */
  #moving;

  /** @param {() => void} onSettled is called when the worker is ready, has failed to boot or cannot continue for now */
  constructor(onSettled) {
    this.#onSettled = onSettled;
  }

  /** The event with which the worker has reported that it is ready. */
  get ready() {
    return this.#ready;
  }

  /** From which the next workers start quickly, once there is one. */
  get template() {
    return this.#template;
  }

  /** Have the template ready, if the first worker has sent one. */
  async prepareTemplate() {
    this.#move();
    await this.#moving;
  }

  /** Take the template that the first worker has sent. A run that begins meanwhile needs the processor more. @param {Template} template */
  inherit(template) {
    this.#sent = template;
    setTimeout(() => this.#move(), REST_MS);
  }

  /** Move the template into shared memory, unless it is there. Where there is no room for it, the next workers do without. */
  #move() {
    const sent = this.#sent;
    this.#sent = undefined;
    if (!sent) return;
    this.#moving = shared(sent)
      .then((template) => {
        this.#template = template;
      })
      .catch((error) => console.info(`Python's next starts have no template: ${error}`))
      .finally(() => (this.#moving = undefined));
  }

  /**
   * Boot a worker, unless there is one.
   * @param {(python: () => Interpreter) => Listener} listener hears the worker once it is taken
   * @param {number} dataBytes the size of the data sets that its program will probably read
   * @param {boolean} [isUrgent] whether it is to be taken at once, template or not
   */
  boot(listener, dataBytes, isUrgent = false) {
    if (this.#python) return;
    if (!isUrgent) this.#move();
    if (this.#moving && !isUrgent) {
      this.#moving.then(() => this.boot(listener, dataBytes));
      return;
    }
    /** @type {Listener} */
    const later = listener(() => python);
    const python = new Interpreter(
      {
        received: (event) => {
          if (python !== this.#python) return later.received(event);
          if (event.kind === "ready") this.#settle(event);
          else if (event.kind === "template") this.inherit(event.template);
          else if (event.kind === "crash") this.#failed();
          else if (event.kind === "loading" && event.problem) this.#onSettled();
        },
        ended: (reason) => (python === this.#python ? this.#failed() : later.ended(reason)),
        forged: () => later.forged(),
      },
      this.#template,
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
