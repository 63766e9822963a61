/** Runs a network on WebGPU: one replay of its Plan for each prediction. */

import { PipelineCache, encode, prepare } from "../engine/program.js";
import { isSoftware } from "../engine/software-adapter.js";
import { dataAt, sizeOf } from "./tensors.js";

/** @import { Data, Spec, Tensor } from "./tensors.js" */
/**
 * @typedef {Spec & {buffer: number, offset: number}} Slot
 * @typedef {import("../engine/program.js").Plan & {feeds: Record<string, Slot>,
 *   fetches: Record<string, Slot>, inputs: (string | null)[], outputs: string[]}} NetworkPlan
 *   `inputs` and `outputs`: names of feeds and fetches, in order
 */

/**
 * @param {NetworkPlan} plan
 * @param {ArrayBuffer} weights the content of the external buffer
 * @returns {Promise<{lost: Promise<unknown>, predict: (inputs: Data[]) => Promise<Tensor[]>}>}
 * @throws {Error} there is no adapter, it computes on the processor, or it refuses the plan
 */
export async function gpuPredictor(plan, weights) {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("no WebGPU adapter");
  if (isSoftware(adapter.info)) throw new Error("WebAssembly need not compile kernels first");
  const device = await adapter.requestDevice();
  /** @type {Map<number, GPUBuffer>} */
  const buffers = new Map();
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
  for (const { id, size, external, data } of plan.buffers) {
    const content = external ? new Uint8Array(weights) : data ? bytesOf(data) : undefined;
    const buffer = device.createBuffer({
      size: Math.max(external ? weights.byteLength : size, 4),
      usage,
    });
    if (content) device.queue.writeBuffer(buffer, 0, content);
    buffers.set(id, buffer);
  }
  const dispatches = (await prepare(device, new PipelineCache(device), plan, buffers)).flat();
  const reads = plan.outputs.map((name) => plan.fetches[name]);
  const sizes = reads.map(deviceBytes);
  const readback = device.createBuffer({
    size: sizes.reduce((sum, size) => sum + size, 0),
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });

  /** @param {Data[]} inputs */
  async function predict(inputs) {
    plan.inputs.forEach((name, i) => {
      if (name === null) return;
      const { buffer, offset, dtype } = plan.feeds[name];
      device.queue.writeBuffer(
        /** @type {GPUBuffer} */ (buffers.get(buffer)),
        offset,
        inDevice(inputs[i], dtype),
      );
    });
    const encoder = device.createCommandEncoder();
    let at = 0;
    reads.forEach(({ buffer, offset }, i) => {
      encoder.copyBufferToBuffer(
        /** @type {GPUBuffer} */ (buffers.get(buffer)),
        offset,
        readback,
        at,
        sizes[i],
      );
      at += sizes[i];
    });
    device.queue.submit([encode(device, dispatches), encoder.finish()]);
    await readback.mapAsync(GPUMapMode.READ);
    const bytes = readback.getMappedRange().slice(0);
    readback.unmap();
    at = 0;
    return reads.map((spec, i) => {
      const data = dataAt(bytes, at, spec);
      at += sizes[i];
      return { dtype: spec.dtype, shape: spec.shape, data };
    });
  }
  return { lost: device.lost, predict };
}

/** @param {string} base64 */
const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

/** @param {string} dtype */
const isByte = (dtype) => dtype === "uint8" || dtype === "int8";

/** Four bytes share a word; all others take a word each. @param {Spec} spec */
const deviceBytes = ({ dtype, shape }) =>
  Math.max(4, 4 * Math.ceil(sizeOf(shape) / (isByte(dtype) ? 4 : 1)));

/** @param {Data} data @param {string} dtype @returns {BufferSource} */
function inDevice(data, dtype) {
  if (dtype === "bool") return Uint32Array.from(data);
  if (!isByte(dtype)) return /** @type {BufferSource} */ (data);
  const padded = new Uint8Array(4 * Math.ceil(data.length / 4));
  padded.set(data);
  return padded;
}
