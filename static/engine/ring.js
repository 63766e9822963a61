/**
 * A byte stream in shared memory, with one writer and one reader:
 *
 *   Int32 word [0]  head: bytes ever written, modulo 2^32
 *   Int32 word [1]  tail: bytes ever read, modulo 2^32
 *   Int32 word [2]  gone: 1 when either end has ended; set by the page
 *   Int32 word [3]  life: counts signs of life from a writer that has nothing to write
 *   bytes from 16   the stream, position p at p modulo capacity (a power of two)
 *
 * The stream carries frames: a text (JSON) and an optional payload of bytes.
 *
 *   uint32 text length, uint32 payload length + 1 (0: no payload), text, payload
 *
 * A frame may be larger than the ring: the writer writes what fits, and the rest as the reader
 * makes room. Frames are therefore bounded by memory only, not by a constant here.
 */

import { ringBell } from "./control.js";

const HEAD = 0;
const TAIL = 1;
const GONE = 2;
const LIFE = 3;
const WORDS = 4;
/** How often a writer that waits for room checks whether the reader has ended, in milliseconds. */
const GONE_MS = 200;
const RING_HEADER = 4 * WORDS;
const FRAME_HEADER = 8;

/** @typedef {{text: string, payload: Uint8Array | undefined}} Frame */

/** An empty ring. @param {number} capacity bytes, a power of two */
export function createRing(capacity) {
  return new SharedArrayBuffer(RING_HEADER + capacity);
}

/** Tell each end that the other has ended. @param {SharedArrayBuffer} ring */
export function markGone(ring) {
  const words = new Int32Array(ring, 0, WORDS);
  Atomics.store(words, GONE, 1);
  Atomics.notify(words, TAIL); // a writer may wait for room
}

/** Wake a reader that waits, although there is nothing to read. @param {SharedArrayBuffer} ring */
export function wakeReader(ring) {
  Atomics.notify(new Int32Array(ring, 0, WORDS), HEAD);
}

/** The writing end of a ring. */
export class RingWriter {
  #words;
  #bytes;
  #control;
  /** @type {Uint8Array[]} parts that did not fit yet */
  #waiting = [];

  /**
   * @param {SharedArrayBuffer} ring
   * @param {SharedArrayBuffer} [control] has the bell to ring after each write
   */
  constructor(ring, control) {
    this.#words = new Int32Array(ring, 0, WORDS);
    this.#bytes = new Uint8Array(ring, RING_HEADER);
    this.#control = control;
  }

  /** Queue a frame and write as much as fits. @param {string} text @param {Uint8Array} [payload] */
  push(text, payload) {
    const encoded = new TextEncoder().encode(text);
    const start = new Uint8Array(FRAME_HEADER + encoded.length);
    const header = new DataView(start.buffer);
    header.setUint32(0, encoded.length, true);
    header.setUint32(4, payload ? payload.length + 1 : 0, true);
    start.set(encoded, FRAME_HEADER);
    this.#waiting.push(start);
    if (payload?.length) this.#waiting.push(payload);
    return this.pump();
  }

  /** Let the reader know that work continues, without waking it. */
  signOfLife() {
    Atomics.add(this.#words, LIFE, 1);
  }

  /** Write as much of the queue as fits. @returns {boolean} whether the queue is empty */
  pump() {
    let head = Atomics.load(this.#words, HEAD) >>> 0;
    let room = this.#bytes.length - ((head - (Atomics.load(this.#words, TAIL) >>> 0)) >>> 0);
    let wrote = false;
    while (this.#waiting.length > 0 && room > 0) {
      const part = this.#waiting[0];
      const at = head % this.#bytes.length;
      const size = Math.min(part.length, room, this.#bytes.length - at);
      this.#bytes.set(part.subarray(0, size), at);
      head = (head + size) >>> 0;
      room -= size;
      wrote = true;
      if (size === part.length) this.#waiting.shift();
      else this.#waiting[0] = part.subarray(size);
    }
    if (wrote) {
      Atomics.store(this.#words, HEAD, head | 0);
      Atomics.notify(this.#words, HEAD);
      if (this.#control) ringBell(this.#control);
    }
    return this.#waiting.length === 0;
  }

  /**
   * Write a frame, sleeping while the ring is full; for workers only. The reader may be busy for a
   * long time. When it has ended, the frame is dropped.
   * @param {string} text
   * @param {Uint8Array} [payload]
   */
  pushBlocking(text, payload) {
    let done = this.push(text, payload);
    while (!done && Atomics.load(this.#words, GONE) === 0) {
      const tail = Atomics.load(this.#words, TAIL);
      done = this.pump();
      if (!done) Atomics.wait(this.#words, TAIL, tail, GONE_MS);
    }
  }
}

/** The reading end of a ring. */
export class RingReader {
  #words;
  #bytes;
  #header = new Uint8Array(FRAME_HEADER);
  #headerFilled = 0;
  /** @type {Uint8Array | undefined} text and payload of the frame being read */
  #body;
  #bodyFilled = 0;

  /** @param {SharedArrayBuffer} ring */
  constructor(ring) {
    this.#words = new Int32Array(ring, 0, WORDS);
    this.#bytes = new Uint8Array(ring, RING_HEADER);
  }

  /** A number that changes with each sign of life and each write. */
  get signs() {
    return (Atomics.load(this.#words, HEAD) + Atomics.load(this.#words, LIFE)) | 0;
  }

  /** Whether the writer has ended; frames that it wrote before can still be read. */
  get gone() {
    return Atomics.load(this.#words, GONE) === 1;
  }

  /** The next frame, if it is complete. @returns {Frame | undefined} */
  poll() {
    if (!this.#body) {
      this.#headerFilled = this.#fill(this.#header, this.#headerFilled);
      if (this.#headerFilled < FRAME_HEADER) return undefined;
      const [text, payload] = this.#lengths();
      this.#body = new Uint8Array(text + Math.max(payload, 0));
    }
    this.#bodyFilled = this.#fill(this.#body, this.#bodyFilled);
    return this.#bodyFilled === this.#body.length ? this.#finish(this.#body) : undefined;
  }

  /**
   * Sleep until the next frame is complete, and return it; for workers only.
   * @param {number} [timeout] milliseconds
   * @returns {Frame | undefined} undefined when the time is up, or after `wakeReader`
   */
  wait(timeout = Infinity) {
    const until = performance.now() + timeout;
    for (;;) {
      const head = Atomics.load(this.#words, HEAD);
      const frame = this.poll();
      if (frame) return frame;
      if (head !== Atomics.load(this.#words, HEAD)) continue;
      const left = until - performance.now();
      if (left <= 0) return undefined;
      const woken = Atomics.wait(this.#words, HEAD, head, left);
      // Woken with nothing to read: the caller should look elsewhere, such as at the interrupt byte.
      if (woken === "ok" && head === Atomics.load(this.#words, HEAD)) return undefined;
    }
  }

  #lengths() {
    const header = new DataView(this.#header.buffer);
    return [header.getUint32(0, true), header.getUint32(4, true) - 1];
  }

  /** @param {Uint8Array} body @returns {Frame} */
  #finish(body) {
    const [text, payload] = this.#lengths();
    this.#body = undefined;
    this.#bodyFilled = this.#headerFilled = 0;
    return {
      text: new TextDecoder().decode(body.subarray(0, text)),
      payload: payload < 0 ? undefined : body.subarray(text),
    };
  }

  /**
   * Move bytes of the ring to `target`, starting at `filled`.
   * @param {Uint8Array} target
   * @param {number} filled
   * @returns {number} bytes of `target` that are filled now
   */
  #fill(target, filled) {
    while (filled < target.length) {
      const tail = Atomics.load(this.#words, TAIL) >>> 0;
      const available = ((Atomics.load(this.#words, HEAD) >>> 0) - tail) >>> 0;
      const at = tail % this.#bytes.length;
      const size = Math.min(target.length - filled, available, this.#bytes.length - at);
      if (size === 0) break;
      target.set(this.#bytes.subarray(at, at + size), filled);
      filled += size;
      Atomics.store(this.#words, TAIL, (tail + size) | 0);
      Atomics.notify(this.#words, TAIL);
    }
    return filled;
  }
}
