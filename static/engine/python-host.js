/**
 * The JavaScript side of `app/playgrad/devices/_browser/`: the module `playgrad_host` that Python
 * imports. Its functions take and return plain values: texts, numbers and bytes.
 *
 * Where Python needs `None`, a function returns undefined: `null` would arrive as `jsnull`.
 */

import { interruptTaker, sleep, stopFlag } from "./control.js";
import { LATER_LIBRARY } from "./data-files.js";
import { mostDevices } from "./device-links.js";
import { isForPython } from "./message-checks.js";
import { RingReader } from "./ring.js";
import { Threads, mostThreads, settle } from "./threads.js";

/**
 * @import { DeviceCall, Inheritance, PythonEvent, PythonWorkerEvent, SharedMemory, ThreadsRequest } from "./messages.js"
 * @import { Frame } from "./ring.js"
 */

/**
 * @typedef {{getBuffer(type?: string): {data: Uint8Array<ArrayBuffer>, release(): void},
 *            toJs(options: object): unknown}} PyProxy the part of Pyodide's proxies used here
 */

/**
 * @param {SharedMemory} memory
 * @param {import("./device-links.js").DeviceLinks} links to the device workers
 * @param {import("./data-files.js").DataFiles} files
 * @param {Inheritance} inheritance from earlier Python workers; may still change before the first run
 * @param {(event: PythonEvent | PythonWorkerEvent | ThreadsRequest, transfer?: Transferable[]) => void} send to the page
 */
export function createHost(memory, links, files, inheritance, send) {
  const mailbox = new RingReader(memory.mailbox);
  const threads = new Threads(send);

  /**
   * @param {number} link
   * @param {DeviceCall["call"]} call
   * @param {number} device
   * @param {string} text
   * @param {(PyProxy | Uint8Array)[]} data
   */
  function post(link, call, device, text, data) {
    const buffers = data.map((object) => (object instanceof Uint8Array ? object : copyOf(object)));
    const transfer = buffers.flatMap(({ buffer }) =>
      buffer instanceof ArrayBuffer ? [buffer] : [],
    );
    return links.get(link).post({ call, device, text, buffers }, transfer);
  }

  return {
    /** The number of devices of a kind that a page can have. */
    most_devices: mostDevices,

    /** Begin to start a worker for a device. @param {string} device @returns {number} its link */
    open_link: (device) => links.open(device),

    /** Whether the worker can still answer. @param {number} link */
    link_alive: (link) => links.get(link).alive,

    /** End a worker that does not answer. @param {number} link */
    give_up: (link) => links.get(link).giveUp(),

    /**
     * Call a device worker, and sleep until it answers.
     * @param {number} link
     * @param {number} limit milliseconds to wait for a worker that gives no sign of life
     * @param {DeviceCall["call"]} call
     * @param {number} device the worker's id of the open device; 0 for calls to the worker itself
     * @param {string} text arguments as JSON
     * @param {...(PyProxy | Uint8Array)} data bytes-like objects, copied once; snapshots are shared
     * @returns {[string, Uint8Array | undefined]} the answer as JSON, and its bytes
     */
    call_device(link, limit, call, device, text, ...data) {
      // A stop does not end this wait: the device obeys the stop word itself.
      const answer = links.answer(link, post(link, call, device, text, data), limit);
      return [answer.text, answer.payload];
    },

    /**
     * Call a device worker without waiting for the answer.
     * @param {number} link
     * @param {DeviceCall["call"]} call
     * @param {number} device
     * @param {string} text
     * @param {...(PyProxy | Uint8Array)} data
     * @returns {number} a ticket for the answer
     */
    post_device: (link, call, device, text, ...data) => post(link, call, device, text, data),

    /** The answer, if it has arrived. @param {number} link @param {number} limit @param {number} ticket */
    poll_device: (link, limit, ticket) => framePair(links.get(link).poll(ticket, limit)),

    /** Sleep until the answer arrives. @param {number} link @param {number} limit @param {number} ticket */
    wait_device: (link, limit, ticket) => framePair(links.answer(link, ticket, limit)),

    /** Sleep until any device has answered since the last call. @param {number} timeout milliseconds */
    wait_for_answer: (timeout) => links.wait(timeout),

    /** A copy of bytes in memory shared with other workers. @param {PyProxy} object @returns {Uint8Array} */
    snapshot: (object) =>
      viewed(object, (bytes) => {
        const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
        copy.set(bytes);
        return copy;
      }),

    /** Whether bytes equal a snapshot's. @param {Uint8Array} copy @param {PyProxy} object */
    same_bytes: (copy, object) => viewed(object, (bytes) => sameBytes(copy, bytes)),

    /** The page's next request, if there is one. @returns {[string, Uint8Array?] | undefined} */
    poll_mailbox: () => framePair(mailbox.poll()),

    /**
     * Sleep until the page's next request.
     * @param {number} timeout milliseconds
     * @returns {[string, Uint8Array?] | undefined} undefined when the time is up
     */
    wait_mailbox: (timeout) => framePair(mailbox.wait(timeout)),

    recall_tunings: () => inheritance.tunings,

    /**
     * The data set that a device kept from an earlier run.
     * @param {string} device
     * @param {number} buffer that holds it
     * @param {number} number of the content
     * @returns {Uint8Array | undefined}
     */
    kept_data(device, buffer, number) {
      const content = inheritance.kept.get(device)?.get(buffer);
      return content?.number === number ? content.bytes : undefined;
    },

    /** Have the page store measurements of GPUs. @param {string} text */
    remember_tunings(text) {
      inheritance.tunings = text;
      send({ kind: "tunings", text });
    },

    /**
     * Send an event to the page; bytes in it arrive as Uint8Array.
     * @param {PyProxy} event a dict
     * @throws {Error} only JavaScript sends events of its kind
     */
    emit(event) {
      const options = { dict_converter: Object.fromEntries, create_pyproxies: false };
      /** @type {ArrayBuffer[]} */
      const transfer = [];
      const message = plain(event.toJs(options), transfer);
      if (!isForPython(message?.kind))
        throw new Error(`Python cannot send a message ${message?.kind}`);
      send(message, transfer);
    },

    /** How many threads can work on a step. @param {WebAssembly.Memory} memory Python's */
    most_threads: mostThreads,

    /** Have other threads load a module. */
    share_module: threads.share.bind(threads),

    /** Wait until other threads have ended what they have begun. */
    settle_threads: settle,

    /** Sleep until the time is up or a stop is requested. @param {number} milliseconds */
    sleep: (milliseconds) => sleep(memory.control, milliseconds),

    stop_requested: stopFlag(memory.control),

    /** Whether an interrupt is requested; clears the request. To be called after a long sleep. */
    take_interrupt: interruptTaker(memory.control),

    /** A file of this server. @param {string} path @param {...string} beside files that are needed next @returns {Uint8Array} */
    fetch_data: (path, ...beside) => files.read(path, stopFlag(memory.control), beside),

    /** The file with the modules of Python's standard library that come when a program imports one. */
    later_library: LATER_LIBRARY,
  };
}

/** @param {Frame | undefined} frame @returns {[string, Uint8Array?] | undefined} */
function framePair(frame) {
  return frame && [frame.text, frame.payload];
}

/**
 * Return what `use` makes of the bytes of a Python buffer, without copying them.
 * @template T
 * @param {PyProxy} object
 * @param {(bytes: Uint8Array<ArrayBuffer>) => T} use
 * @returns {T}
 */
function viewed(object, use) {
  const view = object.getBuffer("u8");
  try {
    return use(view.data);
  } finally {
    view.release();
  }
}

/** A copy of the bytes of a Python buffer. @param {PyProxy} object */
const copyOf = (object) => viewed(object, (bytes) => bytes.slice());

/** @param {Uint8Array} one @param {Uint8Array} other */
function sameBytes(one, other) {
  if (one.length !== other.length) return false;
  const aligned = [one, other].every(
    ({ byteOffset, length }) => byteOffset % 4 === 0 && length % 4 === 0,
  );
  return aligned ? sameItems(words(one), words(other)) : sameItems(one, other);
}

/** @param {Uint8Array} bytes */
const words = ({ buffer, byteOffset, length }) => new Int32Array(buffer, byteOffset, length / 4);

/** @param {Int32Array | Uint8Array} one @param {Int32Array | Uint8Array} other of the same length */
function sameItems(one, other) {
  for (let index = 0; index < one.length; index++) {
    if (one[index] !== other[index]) return false;
  }
  return true;
}

/**
 * Undo Pyodide's conversion of None to undefined, in place, and list bytes for transfer.
 * @param {any} value
 * @param {ArrayBuffer[]} transfer
 * @returns {any}
 */
function plain(value, transfer) {
  if (value === undefined) return null;
  if (typeof value !== "object") return value;
  if (value instanceof Uint8Array) {
    transfer.push(/** @type {ArrayBuffer} */ (value.buffer));
    return value;
  }
  for (const key of Object.keys(value)) value[key] = plain(value[key], transfer);
  return value;
}
