/**
 * The memory shared by the page, the Python worker and the device workers.
 *
 *   control   three Int32 words
 *               [0] interrupt: its low byte is Pyodide's interrupt buffer; 2 raises KeyboardInterrupt
 *               [1] stop: 1 ends an `execute` between two training steps
 *               [2] bell: counts what Python, waiting for devices, is to look up for
 *   mailbox   a ring, page → Python
 *
 * and a ring for each device worker that was asked for, device worker → Python.
 *
 * A ring is a byte stream with one writer and one reader:
 *
 *   Int32 word [0]  head: bytes ever written, modulo 2^32
 *   Int32 word [1]  tail: bytes ever read, modulo 2^32
 *   Int32 word [2]  gone: 1 when the writer has ended, which the page finds out
 *   Int32 word [3]  life: counts the signs that the writer gives while there is nothing to write
 *   bytes from 16   the stream, position p at p modulo capacity (a power of two)
 *
 * and carries frames of a text (JSON) and an optional payload of bytes:
 *
 *   uint32 text length, uint32 payload length + 1 (0: no payload), text, payload
 *
 * A frame may be larger than the ring: the writer puts in what fits, and the rest as the reader
 * makes room. So the size of what is sent is bounded by memory only, not by a constant here.
 */

const HEAD = 0;
const TAIL = 1;
const GONE = 2;
const LIFE = 3;
const RING_HEADER = 16;
const FRAME_HEADER = 8;

const INTERRUPT = 0;
const STOP = 1;
const BELL = 2;
const SIGINT = 2;

const MAILBOX_CAPACITY = 8 << 20;
const REPLY_CAPACITY = 4 << 20;
const REFILL_MS = 4;

/**
 * @typedef {{control: SharedArrayBuffer, mailbox: SharedArrayBuffer}} SharedMemory
 * @typedef {{text: string, payload: Uint8Array | undefined}} Frame
 */

/** @returns {SharedMemory} */
export function createSharedMemory() {
  return { control: new SharedArrayBuffer(12), mailbox: createRing(MAILBOX_CAPACITY) };
}

/** An empty ring. @param {number} [capacity] bytes, a power of two */
export function createRing(capacity = REPLY_CAPACITY) {
  return new SharedArrayBuffer(RING_HEADER + capacity);
}

/** @param {Int32Array<SharedArrayBuffer>} control */
function ringBell(control) {
  Atomics.add(control, BELL, 1);
  Atomics.notify(control, BELL);
}

/**
 * Tell the reader of a device worker's answers that there will be no more.
 * @param {SharedArrayBuffer} reply
 * @param {SharedArrayBuffer} control
 */
export function markGone(reply, control) {
  Atomics.store(new Int32Array(reply, 0, 3), GONE, 1);
  ringBell(new Int32Array(control));
}

/** What Python sleeps on while it waits for any of several device workers. */
export class Bell {
  #control;
  #heard = 0;

  /** @param {SharedArrayBuffer} control */
  constructor(control) {
    this.#control = new Int32Array(control);
  }

  /**
   * Sleep until it is rung; not at all if it was since the last call.
   * @param {number} [timeout] milliseconds
   */
  wait(timeout = Infinity) {
    Atomics.wait(this.#control, BELL, this.#heard, timeout);
    this.#heard = Atomics.load(this.#control, BELL);
  }
}

/**
 * Ask Python and the devices to stop what they are doing, and wake Python if it sleeps.
 * @param {SharedMemory} memory
 */
export function requestStop(memory) {
  const control = new Int32Array(memory.control);
  Atomics.store(control, STOP, 1);
  Atomics.store(control, INTERRUPT, SIGINT);
  Atomics.notify(control, INTERRUPT);
  Atomics.notify(new Int32Array(memory.mailbox, 0, 2), HEAD);
  ringBell(control);
}

/**
 * Forget a stop request; to be called before the next run is posted.
 * @param {SharedMemory} memory
 */
export function clearStop(memory) {
  const control = new Int32Array(memory.control);
  Atomics.store(control, STOP, 0);
  Atomics.store(control, INTERRUPT, 0);
}

/**
 * @param {SharedArrayBuffer} control
 * @returns {() => boolean} whether a stop is asked for; cheap enough to ask between any two steps
 */
export function stopFlag(control) {
  const words = new Int32Array(control);
  return () => Atomics.load(words, STOP) !== 0;
}

/** @param {SharedArrayBuffer} control @returns {Uint8Array} for `pyodide.setInterruptBuffer` */
export function interruptBuffer(control) {
  return new Uint8Array(control, INTERRUPT * 4, 1);
}

/**
 * @param {SharedArrayBuffer} control
 * @returns {() => boolean} whether an interrupt is asked for; it is then taken, as Pyodide would
 */
export function interruptTaker(control) {
  const buffer = interruptBuffer(control);
  return () => Atomics.compareExchange(buffer, 0, SIGINT, 0) === SIGINT;
}

/**
 * Sleep until the time is over or an interrupt is asked for; for workers only.
 * @param {SharedArrayBuffer} control
 * @param {number} milliseconds
 */
export function sleep(control, milliseconds) {
  Atomics.wait(new Int32Array(control), INTERRUPT, 0, milliseconds);
}

/** The writing end of a ring. */
export class RingWriter {
  #words;
  #bytes;
  #control;
  /** @type {Uint8Array[]} what did not fit yet */
  #waiting = [];

  /**
   * @param {SharedArrayBuffer} ring
   * @param {SharedArrayBuffer} [control] whose bell is rung at each news
   */
  constructor(ring, control) {
    this.#words = new Int32Array(ring, 0, 4);
    this.#bytes = new Uint8Array(ring, RING_HEADER);
    this.#control = control && new Int32Array(control);
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

  /** Let the reader know that work goes on. It is not woken. */
  signOfLife() {
    Atomics.add(this.#words, LIFE, 1);
  }

  /** Write what waits, as far as there is room. @returns {boolean} whether all is written */
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
   * Write a frame, sleeping while the ring is full; for workers only. The reader may be busy for
   * long; when it has ended, the page ends this worker as well.
   * @param {string} text
   * @param {Uint8Array} [payload]
   */
  pushBlocking(text, payload) {
    let done = this.push(text, payload);
    while (!done) {
      const tail = Atomics.load(this.#words, TAIL);
      done = this.pump();
      if (!done) Atomics.wait(this.#words, TAIL, tail);
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
    this.#words = new Int32Array(ring, 0, 4);
    this.#bytes = new Uint8Array(ring, RING_HEADER);
  }

  /** A number that is another one after each sign of life, of which what is written is one. */
  get signs() {
    return (Atomics.load(this.#words, HEAD) + Atomics.load(this.#words, LIFE)) | 0;
  }

  /** Whether the writer has ended; what it wrote before can still be read. */
  get gone() {
    return Atomics.load(this.#words, GONE) === 1;
  }

  /** The next frame, if all of it is there. @returns {Frame | undefined} */
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
   * The next frame, sleeping until it is there; for workers only.
   * @param {number} [timeout] milliseconds
   * @returns {Frame | undefined} undefined when the time is over, or when somebody woke the reader
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
      // A wake-up without news is a request to look up, for instance at the interrupt byte.
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
   * Move what the ring has to `target`, from `filled` on.
   * @param {Uint8Array} target
   * @param {number} filled
   * @returns {number} bytes of `target` filled now
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
   * @param {{kind: string, [field: string]: unknown}} request
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
