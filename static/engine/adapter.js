/** Finding a GPU adapter, opening a device on it, and describing it. */

import { EngineError } from "./errors.js";

const LARGEST_BUFFER = 1 << 30;
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|basic render|softpipe/i;

/** @import { AdapterInfo } from "./messages.js" */

/**
 * @param {GPU | undefined} gpu `navigator.gpu`
 * @returns {Promise<GPUAdapter>}
 * @throws {EngineError} DeviceError, saying why there is none
 */
export async function findAdapter(gpu) {
  if (!gpu) {
    throw new EngineError("DeviceError", "this browser has no WebGPU, or it is switched off");
  }
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) {
    throw new EngineError("DeviceError", "this browser has WebGPU but offers no adapter");
  }
  return adapter;
}

/**
 * Open a device with WebGPU's default limits, which every page can count on, except that buffers
 * may be as large as the adapter can, up to 1 GiB, and invocations in fours may see each other's
 * values where a kernel wants that.
 * @param {GPUAdapter} adapter fresh: an adapter opens one device only
 * @returns {Promise<GPUDevice>}
 */
export async function openDevice(adapter) {
  try {
    return await adapter.requestDevice({
      requiredFeatures: hasQuads(adapter) ? ["subgroups"] : [],
      requiredLimits: largerBuffers(adapter),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EngineError("DeviceError", `the GPU adapter cannot be opened: ${reason}`);
  }
}

/**
 * Whether it is a processor with vectors of four invocations, which see each other's values.
 * @param {GPUAdapter} adapter
 */
function hasQuads(adapter) {
  const { features, info } = adapter;
  return isSoftware(info) && features.has("subgroups") && info.subgroupMaxSize === 4;
}

/** @param {GPUAdapterInfo} info */
function isSoftware(info) {
  const { vendor, architecture, description, device: model } = info;
  return info.isFallbackAdapter || SOFTWARE.test([vendor, architecture, model, description].join(" "));
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
 * @param {GPUDevice} [device] whose limits to give; else only those that `openDevice` raises,
 *   the others being WebGPU's defaults
 * @returns {AdapterInfo}
 */
export function describe(adapter, device) {
  const { vendor, architecture, description, device: model } = adapter.info;
  return {
    name: description || model || [vendor, architecture].filter(Boolean).join(" ") || "GPU",
    vendor,
    architecture,
    backend: "WebGPU",
    is_software: isSoftware(adapter.info),
    has_quads: hasQuads(adapter),
    limits: device ? limitsOf(device) : largerBuffers(adapter),
    features: [...adapter.features].sort(),
  };
}

/** @param {GPUDevice} device @returns {Record<string, number>} */
function limitsOf(device) {
  /** @type {Record<string, number>} */
  const limits = {};
  // The limits are getters on the prototype: spreading the object would give nothing.
  for (const name in device.limits) {
    const value = Reflect.get(device.limits, name);
    if (typeof value === "number") limits[name] = value;
  }
  return limits;
}
