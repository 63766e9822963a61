/** Reading buffers of one GPUDevice: what is read is copied to a staging buffer, which is mapped. */

import { checkSpan, padded } from "./buffers.js";

/** @typedef {import("./buffers.js").Span} Span */

/** Bytes of staging buffers that are kept from read to read. */
const KEPT_BYTES = 16 << 20;

export class Readback {
  #device;
  /** @type {GPUBuffer[]} staging buffers that no read uses */
  #free = [];

  /** @param {GPUDevice} device */
  constructor(device) {
    this.#device = device;
  }

  /**
   * Begin to read spans as they are after everything submitted so far.
   * @param {Span[]} spans
   * @returns {Reading}
   */
  begin(spans) {
    for (const span of spans) checkSpan("read", span);
    const total = spans.reduce((sum, { size }) => sum + padded(size), 0);
    const staging = this.#take(total);
    const encoder = this.#device.createCommandEncoder();
    let at = 0;
    for (const { buffer, offset, size } of spans) {
      if (size > 0) encoder.copyBufferToBuffer(buffer, offset, staging, at, padded(size));
      at += padded(size);
    }
    this.#device.queue.submit([encoder.finish()]);
    return new Reading(spans, staging, total, () => this.#giveBack(staging));
  }

  /** Forget the buffers; the device that holds them is being destroyed. */
  clear() {
    this.#free = [];
  }

  /** @param {number} size @returns {GPUBuffer} */
  #take(size) {
    const fitting = this.#free.findIndex((staging) => staging.size >= size);
    const [found] = this.#free.splice(Math.max(fitting, 0), 1); // else the first, which was too small
    if (fitting >= 0) return found;
    found?.destroy();
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    return this.#device.createBuffer({ size, usage, label: "staging" });
  }

  /** @param {GPUBuffer} staging */
  #giveBack(staging) {
    const kept = this.#free.reduce((sum, { size }) => sum + size, 0);
    if (kept + staging.size <= KEPT_BYTES) this.#free.push(staging);
    else staging.destroy();
  }
}

/** A read under way. */
class Reading {
  /** Resolves when the bytes are there. @type {Promise<undefined>} */
  mapped;
  #spans;
  #staging;
  #total;
  #giveBack;

  /** @param {Span[]} spans @param {GPUBuffer} staging @param {number} total @param {() => void} giveBack */
  constructor(spans, staging, total, giveBack) {
    this.#spans = spans;
    this.#staging = staging;
    this.#total = total;
    this.#giveBack = giveBack;
    this.mapped = staging.mapAsync(GPUMapMode.READ, 0, total);
  }

  /** The bytes of all spans, one after the other; to be asked for once, when `mapped` has resolved. */
  take() {
    const data = gather(new Uint8Array(this.#staging.getMappedRange(0, this.#total)), this.#spans);
    this.#staging.unmap();
    this.#giveBack();
    return data;
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
