/** Finding a GPU adapter, opening a device on it, and describing it. */

import { EngineError } from "./errors.js";
import { GPU_REASONS } from "./gpu-reasons.js";
import { isSoftware } from "./software-adapter.js";

const LARGEST_BUFFER = 1 << 30;
/** The first request may have to start the browser's GPU process. */
const ANSWER_MS = 10_000;

/** @import { GpuReason } from "./gpu-reasons.js" */
/** @import { AdapterInfo } from "./messages.js" */

/** No GPU is available; `reason` is for callers that do not show the message. */
export class NoGpuError extends EngineError {
  /** @param {GpuReason["kind"]} kind @param {string} [detail] */
  constructor(kind, detail = "") {
    super("DeviceError", GPU_REASONS[kind](detail));
    /** @type {GpuReason} */
    this.reason = { kind, detail };
  }
}

/**
 * @param {GPU | undefined} gpu `navigator.gpu`
 * @returns {Promise<GPUAdapter>}
 * @throws {NoGpuError}
 */
export async function findAdapter(gpu) {
  if (!gpu) throw new NoGpuError("noWebGpu");
  const adapter = await inTime(
    gpu.requestAdapter({ powerPreference: "high-performance" }),
    "notFound",
  );
  if (!adapter) throw new NoGpuError("noAdapter");
  return adapter;
}

/**
 * The outcome of a request to the browser, which may never answer.
 * @template T
 * @param {Promise<T>} request
 * @param {"notFound" | "notOpened"} kind of its failure
 * @returns {Promise<T>}
 * @throws {NoGpuError}
 */
async function inTime(request, kind) {
  let timer = 0;
  /** @type {Promise<never>} */
  const overdue = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer for ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  });
  try {
    return await Promise.race([request, overdue]);
  } catch (error) {
    throw new NoGpuError(kind, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Open a device with WebGPU's default limits, which every adapter has, except for larger buffers, up to
 * 1 GiB, and for subgroups, which some variants of kernels use.
 * @param {GPUAdapter} adapter a fresh one: an adapter can open only one device
 * @returns {Promise<GPUDevice>}
 */
export async function openDevice(adapter) {
  const device = adapter.requestDevice({
    requiredFeatures: adapter.features.has("subgroups") ? ["subgroups"] : [],
    requiredLimits: largerBuffers(adapter),
  });
  return await inTime(device, "notOpened");
}

/**
 * Whether an adapter runs on a processor whose vectors are subgroups of four invocations.
 * @param {GPUAdapter} adapter
 */
function hasQuads(adapter) {
  const { features, info } = adapter;
  return isSoftware(info) && features.has("subgroups") && info.subgroupMaxSize === 4;
}

/** @param {GPUAdapter} adapter */
function largerBuffers(adapter) {
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  return {
    maxBufferSize: Math.min(maxBufferSize, LARGEST_BUFFER),
    maxStorageBufferBindingSize: Math.min(maxStorageBufferBindingSize, LARGEST_BUFFER),
  };
}

/**
 * @param {GPUAdapter} adapter
 * @param {GPUDevice} [device] the source of the limits; without it, only the limits that
 *   `openDevice` raises are reported, since the others are WebGPU's defaults
 * @returns {AdapterInfo}
 */
export function describe(adapter, device) {
  const { vendor, architecture, description, device: model } = adapter.info;
  return {
    name: description || model || [vendor, architecture].filter(Boolean).join(" ") || "GPU",
    vendor,
    architecture,
    backend: "WebGPU",
    system: systemOf(navigator),
    is_software: isSoftware(adapter.info),
    has_quads: hasQuads(adapter),
    limits: device ? limitsOf(device) : largerBuffers(adapter),
    features: [...adapter.features, ...(navigator.gpu.wgslLanguageFeatures ?? [])].sort(),
  };
}

/**
 * The system's own interface to the GPU, as far as the name of the system tells.
 * @param {{userAgentData?: any, userAgent: string}} agent `navigator`
 */
export function systemOf({ userAgentData, userAgent }) {
  const platform = userAgentData?.platform || userAgent;
  if (/windows/i.test(platform)) return "D3D12";
  if (/mac|iphone|ipad|ios/i.test(platform)) return "Metal";
  return /linux|android|chrom(e|ium) ?os|cros/i.test(platform) ? "Vulkan" : "";
}

/** @param {GPUDevice} device @returns {Record<string, number>} */
function limitsOf(device) {
  /** @type {Record<string, number>} */
  const limits = {};
  // The limits are getters on the prototype: spreading the object would copy nothing.
  for (const name in device.limits) {
    const value = Reflect.get(device.limits, name);
    if (typeof value === "number") limits[name] = value;
  }
  return limits;
}
