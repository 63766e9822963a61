/** The worker of a thread that helps Python's worker with steps (threads.js), in its memory. */

import { DONE, MODULE, TRAPPED, controlWords } from "./threads.js";

/** @import { ThreadModule, ThreadStart } from "./messages.js" */

/** @typedef {(control: number, module: number, thread: number) => void} Work */

class Thread {
  #start;
  #words;
  /** @type {Map<number, Work>} by the number of the module */
  #modules = new Map();

  /** @param {ThreadStart} start */
  constructor(start) {
    this.#start = start;
    this.#words = controlWords(start.memory, start.control);
  }

  /** @param {ThreadModule} command */
  load({ number, module }) {
    const imports = { host: { memory: this.#start.memory } };
    const { work } = new WebAssembly.Instance(module, imports).exports;
    this.#modules.set(number, /** @type {Work} */ (work));
    this.#work();
  }

  /** Work until a module runs that has not arrived yet. */
  #work() {
    for (;;) {
      const number = Atomics.load(this.#words, MODULE);
      const work = this.#modules.get(number);
      if (!work) return;
      try {
        work(this.#start.control, number, this.#start.thread);
      } catch {
        // The chunk counts as done; Python's worker says which operation has failed.
        Atomics.store(this.#words, TRAPPED, 1);
        Atomics.add(this.#words, DONE, 1);
        Atomics.notify(this.#words, DONE);
      }
    }
  }
}

/** @param {MessageEvent<MessagePort>} event */
const first = ({ data: port }) => {
  port.onmessage = ({ data }) => {
    const thread = new Thread(data);
    port.onmessage = ({ data }) => thread.load(data);
  };
};
self.addEventListener("message", first, { once: true });
