/**
 * The memory that the page shares with the Python worker and the device workers: control words
 * (control.js) and the mailbox, a ring (ring.js) from the page to Python. Each device worker has a
 * ring of its own for its answers to Python.
 */

import { createControl, lowerStop, raiseInterrupt, raiseStop } from "./control.js";
import { RingWriter, createRing, wakeReader } from "./ring.js";

/** @import { Request, SharedMemory } from "./messages.js" */

const MAILBOX_CAPACITY = 8 << 20;
const REFILL_MS = 4;

/** @returns {SharedMemory} */
export function createSharedMemory() {
  return { control: createControl(), mailbox: createRing(MAILBOX_CAPACITY) };
}

/** Ask Python and the devices to stop, and wake Python if it sleeps. @param {SharedMemory} memory */
export function requestStop({ control, mailbox }) {
  raiseStop(control);
  wakeReader(mailbox);
}

/** Interrupt the code of the prompt; a training continues. @param {SharedMemory} memory */
export function requestInterrupt({ control }) {
  raiseInterrupt(control);
}

/** Withdraw a stop request, before the next run is posted. @param {SharedMemory} memory */
export function clearStop({ control }) {
  lowerStop(control);
}

/** The page's end of the mailbox. */
export class Mailbox {
  #writer;
  #poke;
  #refilling = false;

  /**
   * @param {SharedMemory} memory
   * @param {() => void} poke wakes an idle Python worker, by a message
   */
  constructor(memory, poke) {
    this.#writer = new RingWriter(memory.mailbox);
    this.#poke = poke;
  }

  /**
   * Send a request to Python, busy or idle.
   * @param {Request} request
   * @param {Uint8Array} [payload] for instance an imported file; must not be changed afterwards
   */
  post(request, payload) {
    this.#writer.push(JSON.stringify(request), payload);
    this.#deliver();
  }

  #deliver() {
    const done = this.#writer.pump();
    this.#poke();
    if (done || this.#refilling) return;
    this.#refilling = true;
    setTimeout(() => {
      this.#refilling = false;
      this.#deliver();
    }, REFILL_MS);
  }
}
