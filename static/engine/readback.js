/** Reads buffers of one GPUDevice by copying them to a staging buffer, which is then mapped. */

import { padded } from "./buffers.js";

/** @typedef {import("./buffers.js").Span} Span */

/** Bytes of staging buffers that are reused for later reads. */
const REUSED_BYTES = 16 << 20;

export class Readback {
  #device;
  /** @type {GPUBuffer[]} unused staging buffers */
  #free = [];

  /** @param {GPUDevice} device */
  constructor(device) {
    this.#device = device;
  }

  /**
   * Begin to read spans, with the contents they have after everything submitted so far.
   * @param {Span[]} spans which `checkSpan` allows
   * @param {GPUCommandBuffer[]} [before] commands to submit before, together with the copies
   * @returns {Reading}
   */
  begin(spans, before = []) {
    const total = spans.reduce((sum, { size }) => sum + padded(size), 0);
    const staging = this.#take(total);
    const encoder = this.#device.createCommandEncoder();
    let at = 0;
    for (const { buffer, offset, size } of spans) {
      if (size > 0) encoder.copyBufferToBuffer(buffer, offset, staging, at, padded(size));
      at += padded(size);
    }
    this.#device.queue.submit([...before, encoder.finish()]);
    return new Reading(spans, staging, total, () => this.#giveBack(staging));
  }

  /** Forget the buffers; the device that holds them is being destroyed. */
  clear() {
    this.#free = [];
  }

  /** @param {number} size @returns {GPUBuffer} */
  #take(size) {
    const fitting = this.#free.findIndex((each) => each.size >= size);
    const [staging] = this.#free.splice(Math.max(fitting, 0), 1); // if none fits, replace the first
    if (fitting >= 0) return staging;
    staging?.destroy();
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    return this.#device.createBuffer({ size, usage, label: "staging" });
  }

  /** @param {GPUBuffer} staging */
  #giveBack(staging) {
    const unused = this.#free.reduce((sum, { size }) => sum + size, 0);
    if (unused + staging.size <= REUSED_BYTES) this.#free.push(staging);
    else staging.destroy();
  }
}

/** A read in progress. */
class Reading {
  /** Resolves when the bytes have arrived. @type {Promise<undefined>} */
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

  /** The concatenated bytes of all spans; to be called once, after `mapped` has resolved. */
  take() {
    const data = gather(new Uint8Array(this.#staging.getMappedRange(0, this.#total)), this.#spans);
    this.#staging.unmap();
    this.#giveBack();
    return data;
  }
}

/** Concatenate spans without their padding. @param {Uint8Array} mapped @param {Span[]} spans */
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
