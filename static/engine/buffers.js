/** Creates, counts and writes the storage buffers of one GPUDevice. */

import { EngineError } from "./errors.js";

/**
 * @typedef {{buffer: GPUBuffer, offset: number, size: number}} Span a range of bytes
 */

/** A size rounded up to whole words, the unit of copies and queue writes. @param {number} size */
export const padded = (size) => Math.max(4, Math.ceil(size / 4) * 4);

export class BufferPool {
  #device;
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
    this.#bytes -= buffer.size;
    buffer.destroy();
  }

  stats() {
    return { buffers: this.#buffers.size, bytes: this.#bytes, peak_bytes: this.#peakBytes };
  }

  /** Forget every buffer; the device that held them is being destroyed. */
  clear() {
    this.#buffers.clear();
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
