/** Creates, counts and writes the storage buffers of one GPUDevice. */

import { EngineError } from "./errors.js";

/**
 * @typedef {{buffer: GPUBuffer, offset: number, size: number}} Span a range of bytes
 */

/** A size rounded up to whole words, the unit of copies and queue writes. @param {number} size */
export const padded = (size) => Math.max(4, Math.ceil(size / 4) * 4);

export class BufferPool {
  #device;
  /**
   * Snapshots of data sets, in memory shared with Python, by the buffers that they fill.
   * @type {import("./messages.js").Contents}
   */
  contents = new Map();
  /** Buffers of `contents` that were written or bound since the last reset. @type {Set<number>} */
  #used = new Set();
  /** Counts the changes of `contents`; the number of each content. */
  contentsVersion = 0;
  /** @type {Map<number, GPUBuffer>} */
  #buffers = new Map();
  #nextId = 1;
  #bytes = 0;
  #peakBytes = 0;

  /** @param {GPUDevice} device */
  constructor(device) {
    this.#device = device;
  }

  /** A zeroed buffer of `size` bytes. @param {number} size @returns {number} its id */
  create(size) {
    const id = this.#nextId++;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    this.#buffers.set(id, this.#device.createBuffer({ size: padded(size), usage }));
    this.#bytes += padded(size);
    this.#peakBytes = Math.max(this.#peakBytes, this.#bytes);
    return id;
  }

  /** @param {number} id @returns {GPUBuffer} */
  get(id) {
    const buffer = this.#buffers.get(id);
    if (!buffer) throw new EngineError("KernelError", `there is no buffer ${id}`);
    return buffer;
  }

  /** @param {number} id */
  destroy(id) {
    const buffer = this.get(id);
    this.#buffers.delete(id);
    this.forgetContent(id);
    this.#bytes -= buffer.size;
    buffer.destroy();
  }

  stats() {
    return { buffers: this.#buffers.size, bytes: this.#bytes, peak_bytes: this.#peakBytes };
  }

  /** Destroy every buffer except for the data sets that were used since the last reset. */
  reset() {
    for (const id of [...this.#buffers.keys()]) {
      if (!this.contents.has(id) || !this.#used.has(id)) this.destroy(id);
    }
    this.#used.clear();
    this.#peakBytes = this.#bytes;
  }

  /** Note that a program uses a buffer. @param {number} id */
  noteUse(id) {
    this.#used.add(id);
  }

  /**
   * Note that bytes were written: a snapshot is the whole content of its buffer from now on.
   * @param {number} id
   * @param {number} offset
   * @param {Uint8Array} bytes
   */
  noteContent(id, offset, bytes) {
    this.forgetContent(id);
    // Only snapshots are in shared memory.
    if (offset !== 0 || !(bytes.buffer instanceof SharedArrayBuffer)) return;
    this.#used.add(id);
    this.contentsVersion += 1;
    this.contents.set(id, { number: this.contentsVersion, size: this.get(id).size, bytes });
  }

  /** Note that kernels may write to a buffer. @param {number} id */
  forgetContent(id) {
    if (this.contents.delete(id)) this.contentsVersion += 1;
  }

  /** Forget every buffer; the device that held them is being destroyed. */
  clear() {
    this.#buffers.clear();
    this.contents.clear();
    this.#bytes = 0;
  }

  /** @param {GPUBuffer} buffer @param {number} offset @param {Uint8Array} bytes */
  write(buffer, offset, bytes) {
    if (bytes.length === 0) return;
    checkSpan("write", { buffer, offset, size: bytes.length });
    let words = bytes;
    if (bytes.length % 4 !== 0) {
      words = new Uint8Array(padded(bytes.length));
      words.set(bytes);
    }
    this.#device.queue.writeBuffer(buffer, offset, words);
  }
}

/** @param {string} what @param {Span} span */
export function checkSpan(what, { buffer, offset, size }) {
  if (offset >= 0 && size >= 0 && offset % 4 === 0 && offset + size <= buffer.size) return;
  throw new EngineError(
    "KernelError",
    `cannot ${what} ${size} bytes at offset ${offset} of a buffer of ${buffer.size} bytes`,
  );
}
