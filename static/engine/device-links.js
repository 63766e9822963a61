/**
 * Python's side of its device workers: one link each, with a port that calls go out on and a ring
 * in which the answers come.
 *
 * Python is mostly busy or asleep, and then no message reaches it, neither a port. So the page has
 * given it spare ports beforehand; when Python wants a device, it takes the next one and tells the
 * page, which starts a worker and hands it the other end. What was posted until then waits there.
 */

import { DeviceCall, DeviceEvent } from "./messages.js";
import { Bell, RingReader, createRing } from "./shared-memory.js";

/** @typedef {import("./shared-memory.js").Frame} Frame */

/** An answer. @param {{type: string, message: string, hint?: string}} error @returns {Frame} */
const failure = (error) => ({ text: JSON.stringify({ error: { op: null, ...error } }), payload: undefined });

/** The answer to any call once there is nobody to answer. @param {string} device */
const nobody = (device) =>
  failure({ type: "DeviceLostError", message: `${device}: its worker has ended.`, hint: "Run again." });

/** How often to look for signs of life, in milliseconds. */
const LOOK_MS = 1000;

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

  /**
   * The answer to a call, waited for.
   * @param {number} number
   * @param {number} ticket
   * @param {number} limit as of `DeviceLink.poll`
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
  #device;
  #channel;
  #port;
  #answers;
  #asked = 0;
  #answered = 0;
  /** @type {{call: string, text?: string}[]} without an answer yet, in order */
  #open = [];
  #silence = new Silence();
  #givenUp = false;
  /** The answer to any call once there is nobody to answer. */
  #end;

  /**
   * @param {string} device
   * @param {number} channel
   * @param {MessagePort} port
   * @param {RingReader} answers
   */
  constructor(device, channel, port, answers) {
    this.#device = device;
    this.#end = nobody(device);
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
    if (this.alive) {
      this.#port.postMessage(call, transfer);
      this.#open.push({ call: call.call, text: call.text });
    }
    return ++this.#asked;
  }

  /**
   * The answer to a call if it is there. Answers to calls before that are dropped: a stop has kept
   * Python from taking them.
   * @param {number} ticket
   * @param {number} limit milliseconds to wait for a worker that gives no sign of life; then it is
   *   given up, and the answer is an error
   * @returns {Frame | undefined}
   */
  poll(ticket, limit) {
    while (this.#answered < ticket) {
      const { alive } = this; // as it was before the look: the last answer may come with the end
      const frame = this.#answers.poll();
      if (!frame) {
        if (alive && this.#silence.lasts(this.#answers.signs) < limit) return undefined;
        if (alive) this.#giveUpAfter(limit);
        return this.#end;
      }
      this.#answered += 1;
      this.#open.shift();
      if (this.#answered === ticket) return frame;
    }
    return this.#end;
  }

  /** @param {number} limit milliseconds */
  #giveUpAfter(limit) {
    const { call, text = "{}" } = this.#open[0];
    const asked = call === DeviceCall.SERVE ? JSON.parse(text).call : call;
    const message = `no answer for ${limit / 1000} s from ${this.#device} ('${asked}').`;
    const hint = "It hangs, and was given up. Run again.";
    this.#end = failure({ type: "DeviceTimeoutError", message, hint });
    this.giveUp();
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

/** How long somebody has been waiting without a sign of life. */
class Silence {
  #signs = 0;
  #looked = 0;
  #waited = 0;

  /** @param {number} signs what `RingReader.signs` is now @returns {number} milliseconds */
  lasts(signs) {
    const now = performance.now();
    // Only what was waited: since the last look Python may have been busy, or the machine asleep.
    this.#waited = signs === this.#signs ? this.#waited + Math.min(now - this.#looked, LOOK_MS) : 0;
    this.#signs = signs;
    this.#looked = now;
    return this.#waited;
  }
}
