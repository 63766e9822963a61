/**
 * Python's connections to its device workers. Each has a port for calls and a ring for the answers.
 *
 * Python is mostly busy or asleep, and then no message can reach it, not even a port. The page
 * therefore sends it spare ports in advance. When Python wants a device, it takes the next port and
 * asks the page to start a worker with the other end; calls posted until then wait in the port.
 */

import { Bell } from "./control.js";
import { RingReader, createRing } from "./ring.js";

/** @import { DeviceCall, DeviceWorkerRequest, SharedMemory } from "./messages.js" */
/** @import { Frame } from "./ring.js" */

/** Bytes of a ring for answers. */
const REPLY_CAPACITY = 4 << 20;

/** How often to look for signs of life, in milliseconds. */
const LOOK_MS = 1000;

/** An error as an answer. @param {{type: string, message: string, hint?: string}} error @returns {Frame} */
const failure = (error) => ({
  text: JSON.stringify({ error: { op: null, ...error } }),
  payload: undefined,
});

/** The answer to any call after the worker has ended. @param {string} device */
const workerEnded = (device) =>
  failure({
    type: "DeviceLostError",
    message: `${device}: its worker has ended.`,
    hint: "Run again.",
  });

/** The number of devices of a kind that a page can have: one for each core, but at least 4. */
export function mostDevices() {
  return Math.max(4, navigator.hardwareConcurrency || 0);
}

export class DeviceLinks {
  #askPage;
  #ports;
  #used = 0;
  #bell;
  /** @type {DeviceLink[]} */
  #links = [];

  /**
   * @param {SharedMemory} memory
   * @param {MessagePort[]} ports spare ones
   * @param {(request: DeviceWorkerRequest) => void} askPage
   */
  constructor(memory, ports, askPage) {
    this.#askPage = askPage;
    this.#ports = ports;
    this.#bell = new Bell(memory.control);
  }

  /** @param {MessagePort[]} ports spare ones that replace used ones */
  add(ports) {
    this.#ports.push(...ports);
  }

  /**
   * Connect to a new worker for `device`.
   * @param {string} device for instance "gpu:1"
   * @returns {number} the link's number
   */
  open(device) {
    if (this.#used === this.#ports.length) throw new Error("the page has no ports left");
    const channel = this.#used++;
    const reply = createRing(REPLY_CAPACITY);
    this.#askPage({ kind: "device_worker", device, state: "starting", channel, reply });
    const answers = new RingReader(reply);
    const link = new DeviceLink(device, channel, this.#ports[channel], answers, this.#askPage);
    return this.#links.push(link) - 1;
  }

  /** @param {number} number @returns {DeviceLink} */
  get(number) {
    return this.#links[number];
  }

  /**
   * Sleep until a worker has answered since the last call, or until a stop.
   * @param {number} timeout milliseconds
   */
  wait(timeout) {
    this.#bell.wait(timeout);
  }

  /**
   * Sleep until a call is answered, and return the answer.
   * @param {number} number of the link
   * @param {number} ticket
   * @param {number} limit see `DeviceLink.poll`
   * @returns {Frame}
   */
  answer(number, ticket, limit) {
    const link = this.#links[number];
    for (;;) {
      const frame = link.poll(ticket, limit);
      if (frame) return frame;
      this.#bell.wait(LOOK_MS);
    }
  }
}

class DeviceLink {
  #askPage;
  #device;
  #channel;
  #port;
  #answers;
  #asked = 0;
  #answered = 0;
  /** @type {DeviceCall[]} calls that are not answered yet, in order, without their buffers */
  #open = [];
  #silence = new Silence();
  #abandoned = false;
  /** The answer to any call after the worker has ended. */
  #end;

  /**
   * @param {string} device
   * @param {number} channel
   * @param {MessagePort} port
   * @param {RingReader} answers
   * @param {(request: DeviceWorkerRequest) => void} askPage
   */
  constructor(device, channel, port, answers, askPage) {
    this.#askPage = askPage;
    this.#device = device;
    this.#end = workerEnded(device);
    this.#channel = channel;
    this.#port = port;
    this.#answers = answers;
  }

  /** Whether the worker can still answer. */
  get alive() {
    return !this.#abandoned && !this.#answers.gone;
  }

  /**
   * @param {DeviceCall} call
   * @param {ArrayBuffer[]} transfer
   * @returns {number} a ticket for the answer
   */
  post(call, transfer) {
    if (this.alive) {
      this.#port.postMessage(call, transfer);
      this.#open.push({ ...call, buffers: [] });
    }
    return ++this.#asked;
  }

  /**
   * The answer to a call, if it has arrived. Answers to earlier calls are dropped: a stop kept
   * Python from taking them.
   * @param {number} ticket
   * @param {number} limit milliseconds to wait for a worker that gives no sign of life; then the
   *   worker is given up, and the answer is an error
   * @returns {Frame | undefined}
   */
  poll(ticket, limit) {
    while (this.#answered < ticket) {
      const { alive } = this; // read before polling: the last answer may arrive just before the end
      const frame = this.#answers.poll();
      if (!frame) {
        if (alive && this.#silence.duration(this.#answers.signs) < limit) return undefined;
        if (alive) this.#timeOut(limit);
        return this.#end;
      }
      this.#answered += 1;
      this.#open.shift();
      if (this.#answered === ticket) return frame;
    }
    return this.#end;
  }

  /** @param {number} limit milliseconds */
  #timeOut(limit) {
    const { call, text } = this.#open[0];
    const name = call === "serve" ? JSON.parse(text).call : call;
    const message = `no answer for ${limit / 1000} s from ${this.#device} ('${name}').`;
    const hint = "Its worker hung and was ended. Run again.";
    this.#end = failure({ type: "DeviceTimeoutError", message, hint });
    this.giveUp();
  }

  /** Stop waiting for the worker, and have the page end it: it hangs. */
  giveUp() {
    if (this.#abandoned) return;
    this.#abandoned = true;
    this.#port.close();
    const message = "it did not answer in time.";
    const [device, channel] = [this.#device, this.#channel];
    this.#askPage({ kind: "device_worker", device, state: "lost", channel, message });
  }
}

/** Measures how long a worker has given no sign of life. */
class Silence {
  #signs = 0;
  #looked = 0;
  #waited = 0;

  /** @param {number} signs current value of `RingReader.signs` @returns {number} milliseconds */
  duration(signs) {
    const now = performance.now();
    // Count only time spent waiting: since the last look Python may have been busy, or the machine asleep.
    this.#waited = signs === this.#signs ? this.#waited + Math.min(now - this.#looked, LOOK_MS) : 0;
    this.#signs = signs;
    this.#looked = now;
    return this.#waited;
  }
}
