/** The storage buffers of one GPUDevice: made, counted, written and read. */

import { EngineError } from "./errors.js";

/**
 * @typedef {{buffer: GPUBuffer, offset: number, size: number}} Span a range of bytes
 */

const KEPT_STAGING = 16 << 20;

/** Sizes go up to whole words, which is what copies and queue writes move. @param {number} size */
const padded = (size) => Math.max(4, Math.ceil(size / 4) * 4);

export class BufferPool {
  #device;
  /** @type {Map<number, GPUBuffer>} */
  #buffers = new Map();
  /** @type {GPUBuffer | undefined} kept from read to read; not counted */
  #staging;
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
    this.#staging = undefined;
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

  /**
   * Read spans through one staging buffer and one mapping.
   * @param {Span[]} spans
   * @param {<T>(work: Promise<T>) => Promise<T>} settle waits for the device or for its loss
   * @returns {Promise<Uint8Array>} the bytes of all spans, one after the other
   */
  async read(spans, settle) {
    const total = spans.reduce((sum, { size }) => sum + padded(size), 0);
    const staging = this.#stagingOf(total);
    const encoder = this.#device.createCommandEncoder();
    let at = 0;
    for (const span of spans) {
      checkSpan("read", span);
      const { buffer, offset, size } = span;
      if (size > 0) encoder.copyBufferToBuffer(buffer, offset, staging, at, padded(size));
      at += padded(size);
    }
    this.#device.queue.submit([encoder.finish()]);
    await settle(staging.mapAsync(GPUMapMode.READ, 0, total));
    const data = gather(new Uint8Array(staging.getMappedRange(0, total)), spans);
    staging.unmap();
    if (staging.size > KEPT_STAGING) this.#dropStaging();
    return data;
  }

  /** @param {number} size @returns {GPUBuffer} */
  #stagingOf(size) {
    if (!this.#staging || this.#staging.size < size) {
      this.#dropStaging();
      const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
      this.#staging = this.#device.createBuffer({ size, usage, label: "staging" });
    }
    return this.#staging;
  }

  #dropStaging() {
    this.#staging?.destroy();
    this.#staging = undefined;
  }
}

/** Take the padding out between spans. @param {Uint8Array} mapped @param {Span[]} spans */
function gather(mapped, spans) {
  const data = new Uint8Array(spans.reduce((sum, { size }) => sum + size, 0));
  let from = 0;
  let to = 0;
  for (const { size } of spans) {
    data.set(mapped.subarray(from, from + size), to);
    from += padded(size);
    to += size;
  }
  return data;
}

/** @param {string} what @param {Span} span */
function checkSpan(what, { buffer, offset, size }) {
  if (offset >= 0 && size >= 0 && offset % 4 === 0 && offset + size <= buffer.size) return;
  throw new EngineError(
    "KernelError",
    `cannot ${what} ${size} bytes at offset ${offset} of a buffer of ${buffer.size} bytes`,
  );
}
