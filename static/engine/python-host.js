/**
 * The JavaScript side of `app/playgrad/devices/_browser/`: the module `playgrad_host` that Python
 * imports. Few functions, plain values: texts, numbers and bytes.
 *
 * Where Python needs `None`, a function returns undefined: `null` would arrive as `jsnull`.
 */

import { mostDevices } from "./device-links.js";
import { PythonEvent } from "./messages.js";
import { RingReader, interruptTaker, sleep, stopFlag } from "./shared-memory.js";

/**
 * @typedef {{getBuffer(type?: string): {data: Uint8Array<ArrayBuffer>, release(): void},
 *            toJs(options: object): unknown}} PyProxy what is used of Pyodide's proxies
 */

/**
 * @param {import("./shared-memory.js").SharedMemory} memory
 * @param {import("./device-links.js").DeviceLinks} links to the device workers
 * @param {import("./data-files.js").DataFiles} files
 * @param {string} tunings what earlier visits measured of GPUs
 */
export function createHost(memory, links, files, tunings) {
  const mailbox = new RingReader(memory.mailbox);

  /**
   * @param {number} link
   * @param {string} call one of `DeviceCall`
   * @param {number} device
   * @param {string} text
   * @param {(PyProxy | Uint8Array)[]} data
   */
  function post(link, call, device, text, data) {
    const buffers = data.map((object) => (object instanceof Uint8Array ? object : copyOf(object)));
    const transfer = buffers.flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : []));
    return links.get(link).post({ call, device, text, buffers }, transfer);
  }

  return {
    /** How many devices of a kind there may be. */
    most_devices: mostDevices,

    /** Begin to start a worker for a device. @param {string} device @returns {number} its link */
    open_link: (device) => links.open(device),

    /** Whether there still is somebody at the other end. @param {number} link */
    link_alive: (link) => links.get(link).alive,

    /** End a worker that does not answer. @param {number} link */
    give_up: (link) => links.get(link).giveUp(),

    /**
     * One call to a device worker, asleep until its answer is there.
     * @param {number} link
     * @param {number} limit milliseconds to wait for a worker that gives no sign of life
     * @param {string} call one of `DeviceCall`
     * @param {number} device the worker's id for the open device; 0 where none is meant
     * @param {string} text arguments as JSON
     * @param {...(PyProxy | Uint8Array)} data bytes-like objects, copied once; snapshots are shared
     * @returns {[string, Uint8Array | undefined]} the answer as JSON, and its bytes
     */
    call_device(link, limit, call, device, text, ...data) {
      // Not to be broken off: the device obeys the stop word itself.
      const answer = links.answer(link, post(link, call, device, text, data), limit);
      return [answer.text, answer.payload];
    },

    /**
     * A call that is not waited for.
     * @param {number} link
     * @param {string} call
     * @param {number} device
     * @param {string} text
     * @param {...(PyProxy | Uint8Array)} data
     * @returns {number} a ticket for its answer
     */
    post_device: (link, call, device, text, ...data) => post(link, call, device, text, data),

    /** The answer if it is there. @param {number} link @param {number} limit @param {number} ticket */
    poll_device: (link, limit, ticket) => framePair(links.get(link).poll(ticket, limit)),

    /** The answer, waited for. @param {number} link @param {number} limit @param {number} ticket */
    wait_device: (link, limit, ticket) => framePair(links.answer(link, ticket, limit)),

    /** Sleep until any device has answered since the last call. @param {number} timeout ms */
    wait_for_answer: (timeout) => links.wait(timeout),

    /** A copy of bytes that other workers see, too. @param {PyProxy} object @returns {Uint8Array} */
    snapshot: (object) =>
      viewed(object, (bytes) => {
        const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
        copy.set(bytes);
        return copy;
      }),

    /** Whether bytes are those of a snapshot. @param {Uint8Array} copy @param {PyProxy} object */
    same_bytes: (copy, object) => viewed(object, (bytes) => sameBytes(copy, bytes)),

    /** The next request of the page, if there is one. @returns {[string, Uint8Array?] | undefined} */
    poll_mailbox: () => framePair(mailbox.poll()),

    /**
     * The next request of the page, waiting for it.
     * @param {number} timeout milliseconds
     * @returns {[string, Uint8Array?] | undefined} undefined when the time is over
     */
    wait_mailbox: (timeout) => framePair(mailbox.wait(timeout)),

    recall_tunings: () => tunings,

    /** Have the page keep what was measured of GPUs. @param {string} text */
    remember_tunings(text) {
      tunings = text;
      self.postMessage({ kind: PythonEvent.TUNINGS, text });
    },

    /** Send an event to the page; bytes in it arrive as Uint8Array. @param {PyProxy} event a dict */
    emit(event) {
      const options = { dict_converter: Object.fromEntries, create_pyproxies: false };
      /** @type {ArrayBuffer[]} */
      const transfer = [];
      const message = plain(event.toJs(options), transfer);
      self.postMessage(message, { transfer });
    },

    /** Sleep that a stop ends. @param {number} milliseconds */
    sleep: (milliseconds) => sleep(memory.control, milliseconds),

    stop_requested: stopFlag(memory.control),

    /** Whether an interrupt is asked for, which then is taken: to be called after a long sleep. */
    take_interrupt: interruptTaker(memory.control),

    /** A file of this server. @param {string} path @returns {Uint8Array} */
    fetch_data: (path) => files.read(path),
  };
}

/** @param {import("./shared-memory.js").Frame | undefined} frame @returns {[string, Uint8Array?] | undefined} */
function framePair(frame) {
  return frame && [frame.text, frame.payload];
}

/**
 * What `use` makes of the bytes of a Python buffer, where they lie in Python's memory.
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

/** The bytes of a Python buffer, out of Python's memory. @param {PyProxy} object */
const copyOf = (object) => viewed(object, (bytes) => bytes.slice());

/** @param {Uint8Array} one @param {Uint8Array} other */
function sameBytes(one, other) {
  if (one.length !== other.length) return false;
  const whole = [one, other].every(({ byteOffset, length }) => byteOffset % 4 === 0 && length % 4 === 0);
  return whole ? sameItems(words(one), words(other)) : sameItems(one, other);
}

/** @param {Uint8Array} bytes */
const words = ({ buffer, byteOffset, length }) => new Int32Array(buffer, byteOffset, length / 4);

/** @param {Int32Array | Uint8Array} one @param {Int32Array | Uint8Array} other as long */
function sameItems(one, other) {
  for (let index = 0; index < one.length; index++) {
    if (one[index] !== other[index]) return false;
  }
  return true;
}

/**
 * Python's None, which Pyodide makes undefined, becomes null again; bytes are listed for transfer.
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
