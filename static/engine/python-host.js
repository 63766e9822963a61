/**
 * The JavaScript side of `app/playgrad/devices/_browser.py`: the module `playgrad_host` that Python
 * imports. Few functions, plain values: texts, numbers and bytes.
 *
 * Where Python needs `None`, a function returns undefined: `null` would arrive as `jsnull`.
 */

import { DeviceCall } from "./messages.js";
import { RingReader, sleep, stopFlag } from "./shared-memory.js";

/**
 * @typedef {{getBuffer(type?: string): {data: Uint8Array<ArrayBuffer>, release(): void},
 *            toJs(options: object): unknown}} PyProxy what is used of Pyodide's proxies
 */

/**
 * @param {import("./shared-memory.js").SharedMemory} memory
 * @param {MessagePort[]} ports to the device workers
 * @param {() => void} checkInterrupt raises KeyboardInterrupt in Python if one is asked for. Python
 *   itself looks only every so many instructions; after a long sleep it is to look at once.
 * @param {import("./data-files.js").DataFiles} files
 */
export function createHost(memory, ports, checkInterrupt, files) {
  const mailbox = new RingReader(memory.mailbox);
  const answers = memory.replies.map((ring) => new RingReader(ring));
  const stopRequested = stopFlag(memory.control);

  return {
    /** How many device workers there are. */
    device_workers: () => ports.length,

    /**
     * One call to a device worker, asleep until its answer is there.
     * @param {number} worker
     * @param {string} call one of `DeviceCall`
     * @param {number} device the worker's id for the open device; 0 where none is meant
     * @param {string} text arguments as JSON
     * @param {...PyProxy} data bytes-like objects, copied once
     * @returns {[string, Uint8Array | undefined]} the answer as JSON, and its bytes
     */
    call_device(worker, call, device, text, ...data) {
      const buffers = data.map(copyOf);
      const transfer = buffers.map((bytes) => bytes.buffer);
      ports[worker].postMessage({ call, device, text, buffers }, transfer);
      // Not to be broken off: the device obeys the stop word itself, and a reply nobody
      // takes would be taken for the answer to the next call.
      let answer;
      while (!answer) answer = answers[worker].wait();
      if (call === DeviceCall.EXECUTE) checkInterrupt();
      return [answer.text, answer.payload];
    },

    /** The next request of the page, if there is one. @returns {[string, Uint8Array?] | undefined} */
    poll_mailbox: () => framePair(mailbox.poll()),

    /**
     * The next request of the page, waiting for it.
     * @param {number} timeout milliseconds
     * @returns {[string, Uint8Array?] | undefined} undefined when the time is over
     */
    wait_mailbox(timeout) {
      const frame = mailbox.wait(timeout);
      if (!frame) checkInterrupt();
      return framePair(frame);
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
    sleep(milliseconds) {
      sleep(memory.control, milliseconds);
      checkInterrupt();
    },

    stop_requested: stopRequested,

    /** A file of this server. @param {string} path @returns {Uint8Array} */
    fetch_data: (path) => files.read(path),
  };
}

/** @param {import("./shared-memory.js").Frame | undefined} frame @returns {[string, Uint8Array?] | undefined} */
function framePair(frame) {
  return frame && [frame.text, frame.payload];
}

/** The bytes of a Python buffer, out of Python's memory. @param {PyProxy} object */
function copyOf(object) {
  const view = object.getBuffer("u8");
  try {
    return view.data.slice();
  } finally {
    view.release();
  }
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
