/**
 * Threads that help Python's worker with steps: `app/playgrad/wasm/threads.py` says how they share
 * work. Python asks the page to start their workers, with ports over which it sends them modules:
 * it computes without them until they are there.
 */

/** @import { ThreadModule, ThreadStart, ThreadsRequest } from "./messages.js" */

/** Offsets of control words in words: see `app/playgrad/wasm/threads.py`. */
export const [MODULE, LIMIT, NEXT, DONE, , TRAPPED] = [0, 16, 32, 48, 64, 80];
const WORDS = 128;
/** Bits of a word with the number of a chunk. */
const CHUNK_BITS = 8;
const CHUNKS = (1 << CHUNK_BITS) - 1;
/** Threads beyond which another one is hardly ever busy. */
const MOST = 16;
/** How long to wait for a thread after an error, in milliseconds. */
const PATIENCE_MS = 10_000;

/** @param {WebAssembly.Memory} memory @param {number} control the address of the control words */
export const controlWords = (memory, control) =>
  new Int32Array(memory.buffer, control >>> 0, WORDS);

/** How many threads can work on steps, that of Python included. @param {WebAssembly.Memory} memory */
export function mostThreads(memory) {
  return memory.buffer instanceof SharedArrayBuffer ? coresForThreads() : 1;
}

/** A thread for each core, up to a bound. */
export function coresForThreads() {
  return Math.max(1, Math.min(MOST, navigator.hardwareConcurrency || 1));
}

/** Python's end of the threads. */
export class Threads {
  #askPage;
  /** @type {Map<number, MessagePort[]>} by the address of their control words */
  #ports = new Map();

  /** @param {(request: ThreadsRequest, ports: MessagePort[]) => void} askPage */
  constructor(askPage) {
    this.#askPage = askPage;
  }

  /**
   * Have threads load a module, and start so many if there are none yet.
   * @param {WebAssembly.Memory} memory
   * @param {number} count
   * @param {number} control the address of their control words
   * @param {number} number that of the module
   * @param {Uint8Array<ArrayBuffer>} bytes of the module
   */
  share(memory, count, control, number, bytes) {
    const ports = this.#ports.get(control) ?? this.#start(memory, count, control);
    const module = new WebAssembly.Module(bytes);
    /** @type {ThreadModule} */
    const command = { kind: "module", number, module };
    for (const port of ports) port.postMessage(command);
  }

  /** @param {WebAssembly.Memory} memory @param {number} count @param {number} control */
  #start(memory, count, control) {
    const channels = Array.from({ length: count }, () => new MessageChannel());
    const own = channels.map(({ port1 }) => port1);
    this.#ports.set(control, own);
    for (const [number, port] of own.entries()) {
      /** @type {ThreadStart} */
      const start = { kind: "start", memory, control: control >>> 0, thread: number + 1 };
      port.postMessage(start);
    }
    const ports = channels.map(({ port2 }) => port2);
    this.#askPage({ kind: "threads", ports }, ports);
    return own;
  }
}

/**
 * Wait until no thread works on a step that has ended with an error, whose memory will be used
 * again.
 * @param {WebAssembly.Memory} memory
 * @param {number} control
 */
export function settle(memory, control) {
  const words = controlWords(memory, control);
  const job = (Atomics.load(words, LIMIT) >>> CHUNK_BITS) + 1;
  const taken = Atomics.exchange(words, NEXT, job << CHUNK_BITS) & CHUNKS;
  Atomics.store(words, LIMIT, job << CHUNK_BITS);
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const done = Atomics.load(words, DONE);
    // The chunk in which Python's own thread has failed is not done.
    if (done >= taken - 1 || Date.now() > end) break;
    Atomics.wait(words, DONE, done, 100);
  }
  Atomics.store(words, TRAPPED, 0);
}
