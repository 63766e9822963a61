/**
 * The connection of a worker to its interpreter on the desktop, in a worker of its own: the worker
 * itself sleeps while Python computes, and nothing could arrive.
 */

import { stopFlag } from "./control.js";
import { RingWriter } from "./ring.js";

const ADDRESS = "ws://desk";
const INTERRUPT = 1;
const STOP = 2;
const HEADER = 5;

/** @param {SharedArrayBuffer} ring for what arrives */
async function open(ring) {
  const received = new RingWriter(ring);
  const socket = new WebSocket(ADDRESS);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => {
    const length = new DataView(data).getUint32(0, true);
    const text = new TextDecoder().decode(new Uint8Array(data, 4, length));
    received.pushBlocking(text, new Uint8Array(data, 4 + length));
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("there is no interpreter"));
  });
  return socket;
}

class Link {
  #socket;
  #words;
  #stopRequested = () => false;
  #watching = false;

  constructor(socket) {
    this.#socket = socket;
  }

  /** Watch for interrupts, from the control words on. */
  control(control) {
    this.#words = new Int32Array(control);
    this.#stopRequested = stopFlag(control);
    this.#watch();
  }

  send({ text, parts }) {
    const encoded = new TextEncoder().encode(text);
    const sizes = parts.reduce((sum, { length }) => sum + length, 0);
    const message = new Uint8Array(HEADER + encoded.length + sizes);
    message[0] = this.#stopRequested() ? STOP : 0;
    new DataView(message.buffer).setUint32(1, encoded.length, true);
    let at = HEADER;
    for (const part of [encoded, ...parts]) {
      message.set(part, at);
      at += part.length;
    }
    this.#socket.send(message);
    this.#watch();
  }

  /** Tell Python of an interrupt, unless it will be told. It may find that there is none any more. */
  async #watch() {
    if (this.#watching || !this.#words) return;
    this.#watching = true;
    const change = Atomics.waitAsync(this.#words, 0, 0);
    if (change.async) await change.value;
    this.#watching = false;
    const message = new Uint8Array(HEADER);
    message[0] = INTERRUPT | (this.#stopRequested() ? STOP : 0);
    this.#socket.send(message);
  }
}

self.onmessage = async ({ data }) => {
  const link = new Link(await open(data.ring));
  self.onmessage = ({ data }) => (data.control ? link.control(data.control) : link.send(data));
  self.postMessage("open");
};
