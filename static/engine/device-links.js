/**
 * Python's side of its device workers: one link each, with a port that calls go out on and a ring
 * in which the answers come.
 *
 * Python is mostly busy or asleep, and then no message reaches it, neither a port. So the page has
 * given it spare ports beforehand; when Python wants a device, it takes the next one and tells the
 * page, which starts a worker and hands it the other end. What was posted until then waits there.
 */

import { DeviceEvent } from "./messages.js";
import { Bell, RingReader, createRing } from "./shared-memory.js";

/** @typedef {import("./shared-memory.js").Frame} Frame */

/** The answer to any call once there is nobody to answer. @type {Frame} */
const NOBODY = {
  text: JSON.stringify({
    error: { type: "DeviceLostError", message: "its worker has ended.", op: null },
  }),
  payload: undefined,
};

/** How many devices of a kind there may be: as many as the machine has cores, but a few anyhow. */
export function mostDevices() {
  return Math.max(4, navigator.hardwareConcurrency);
}

export class DeviceLinks {
  #ports;
  #used = 0;
  #bell;
  /** @type {DeviceLink[]} */
  #links = [];

  /**
   * @param {import("./shared-memory.js").SharedMemory} memory
   * @param {MessagePort[]} ports spare ones
   */
  constructor(memory, ports) {
    this.#ports = ports;
    this.#bell = new Bell(memory.control);
  }

  /** @param {MessagePort[]} ports spare ones, for those that were used up */
  add(ports) {
    this.#ports.push(...ports);
  }

  /**
   * A way to a new worker for `device`.
   * @param {string} device for instance "gpu:1"
   * @returns {number} the link's number
   */
  open(device) {
    if (this.#used === this.#ports.length) throw new Error("the page has no ports left");
    const channel = this.#used++;
    const reply = createRing();
    self.postMessage({ kind: DeviceEvent.WORKER, device, state: "starting", channel, reply });
    const answers = new RingReader(reply);
    return this.#links.push(new DeviceLink(device, channel, this.#ports[channel], answers)) - 1;
  }

  /** @param {number} number @returns {DeviceLink} */
  get(number) {
    return this.#links[number];
  }

  /** Sleep until a worker has answered since the last call, or a stop. @param {number} timeout ms */
  wait(timeout) {
    this.#bell.wait(timeout);
  }

  /** The answer to a call, waited for. @param {number} number @param {number} ticket */
  answer(number, ticket) {
    const link = this.#links[number];
    for (;;) {
      const frame = link.poll(ticket);
      if (frame) return frame;
      this.#bell.wait();
    }
  }
}

class DeviceLink {
  #device;
  #channel;
  #port;
  #answers;
  #asked = 0;
  #answered = 0;
  #givenUp = false;

  /**
   * @param {string} device
   * @param {number} channel
   * @param {MessagePort} port
   * @param {RingReader} answers
   */
  constructor(device, channel, port, answers) {
    this.#device = device;
    this.#channel = channel;
    this.#port = port;
    this.#answers = answers;
  }

  /** Whether there is somebody to answer. */
  get alive() {
    return !this.#givenUp && !this.#answers.gone;
  }

  /**
   * @param {import("./device-worker.js").Call} call
   * @param {ArrayBuffer[]} transfer
   * @returns {number} the ticket with which to ask for the answer
   */
  post(call, transfer) {
    if (this.alive) this.#port.postMessage(call, transfer);
    return ++this.#asked;
  }

  /**
   * The answer to a call if it is there. Answers to calls before that are dropped: a stop has kept
   * Python from taking them.
   * @param {number} ticket
   * @returns {Frame | undefined}
   */
  poll(ticket) {
    while (this.#answered < ticket) {
      const { alive } = this; // as it was before the look: the last answer may come with the end
      const frame = this.#answers.poll();
      if (!frame) return alive ? undefined : NOBODY;
      this.#answered += 1;
      if (this.#answered === ticket) return frame;
    }
    return NOBODY;
  }

  /** Wait for nothing more, and have the page end the worker: it hangs. */
  giveUp() {
    if (this.#givenUp) return;
    this.#givenUp = true;
    this.#port.close();
    const message = "it did not answer in time.";
    const [device, channel] = [this.#device, this.#channel];
    self.postMessage({ kind: DeviceEvent.WORKER, device, state: "lost", channel, message });
  }
}
