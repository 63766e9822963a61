/**
 * Prepares a Plan to run on one GPUDevice: buffers, pipelines and bind groups are created once, so
 * that a training step is one encoder, one compute pass and one submit.
 *
 * The Plan is plain data; `app/playgrad/compiler/plan.py` documents its fields.
 */

import { EngineError, fromGpuError, guarded } from "./errors.js";

/**
 * @typedef {{id: number, size: number, role: string, data?: string, external?: string}} PlanBuffer
 * @typedef {{id: number, family: string, params?: object, wgsl: string, access: string[]}} PlanKernel
 * @typedef {{kernel: number, bindings: number[][], workgroups: [number, number, number],
 *            node: string}} PlanCommand
 * @typedef {{buffers: PlanBuffer[], kernels: PlanKernel[], commands: PlanCommand[],
 *            segments: [number, number][]}} Plan
 *
 * @typedef {{layout: GPUBindGroupLayout, pipeline: GPUComputePipeline}} Kernel
 * @typedef {{pipeline: GPUComputePipeline, group: GPUBindGroup, x: number, y: number, z: number}}
 *   Dispatch
 */

const USES_SUBGROUPS = /\b(?:subgroup|quad[A-Z])/;

/** Pipelines of one device, cached by WGSL and access: plans share most kernels. */
export class PipelineCache {
  #device;
  /** @type {Map<string, GPUBindGroupLayout>} by access */
  #layouts = new Map();
  /** @type {Map<string, Promise<Kernel>>} */
  #kernels = new Map();

  /** @param {GPUDevice} device */
  constructor(device) {
    this.#device = device;
  }

  /** @param {PlanKernel} kernel @returns {Promise<Kernel>} */
  get(kernel) {
    const key = `${kernel.access.join()}\n${kernel.wgsl}`;
    let compiled = this.#kernels.get(key);
    if (!compiled) {
      compiled = this.#compile(kernel);
      this.#kernels.set(key, compiled);
      compiled.catch(() => this.#kernels.delete(key));
    }
    return compiled;
  }

  /** @param {PlanKernel} kernel @returns {Promise<Kernel>} */
  async #compile(kernel) {
    const layout = this.#layout(kernel.access);
    // Kernels lack this directive because only browsers know it. It is prepended to the first line, so
    // that line numbers in messages stay right.
    const code = (USES_SUBGROUPS.test(kernel.wgsl) ? "enable subgroups; " : "") + kernel.wgsl;
    const { value, error } = guarded(this.#device, () => {
      const module = this.#device.createShaderModule({ code, label: kernel.family });
      const pipeline = this.#device.createComputePipelineAsync({
        label: kernel.family,
        layout: this.#device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: "main" },
      });
      return { module, pipeline };
    });
    const pipeline = await value.pipeline.catch((reason) => reason);
    const refusal = await error;
    if (!refusal && pipeline instanceof GPUComputePipeline) return { layout, pipeline };
    const messages = await compilerMessages(value.module, kernel.wgsl);
    const text = messages || refusal?.message || String(pipeline?.message ?? pipeline);
    const params = kernel.params ? ` ${JSON.stringify(kernel.params)}` : "";
    throw new EngineError("KernelError", `kernel ${kernel.family}${params}: ${text}`);
  }

  /** @param {string[]} access "read" or "read_write" for each binding */
  #layout(access) {
    const key = access.join();
    let layout = this.#layouts.get(key);
    if (!layout) {
      layout = this.#device.createBindGroupLayout({
        entries: access.map((each, binding) => ({
          binding,
          visibility: GPUShaderStage.COMPUTE,
          buffer: { type: each === "read" ? "read-only-storage" : "storage" },
        })),
      });
      this.#layouts.set(key, layout);
    }
    return layout;
  }
}

/** @param {GPUShaderModule} module @param {string} wgsl */
async function compilerMessages(module, wgsl) {
  const { messages } = await module.getCompilationInfo();
  const lines = wgsl.split("\n");
  return messages
    .filter((message) => message.type === "error")
    .map(({ lineNum, message }) => {
      const line = lines[lineNum - 1]?.trim();
      return line ? `line ${lineNum}: ${message}\n    ${line}` : message;
    })
    .join("\n");
}

/** A loaded Plan. Its buffers belong to the runner. */
export class Program {
  /**
   * @param {Map<number, GPUBuffer>} buffers by plan buffer id
   * @param {number[]} owned ids of the buffers created for this program
   * @param {Dispatch[][]} segments
   */
  constructor(buffers, owned, segments) {
    this.buffers = buffers;
    this.owned = owned;
    this.segments = segments;
  }
}

/**
 * Compile a plan's kernels in parallel, and bind its buffers.
 * @param {GPUDevice} device
 * @param {PipelineCache} pipelines
 * @param {Plan} plan
 * @param {Map<number, GPUBuffer>} buffers by plan buffer id
 * @returns {Promise<Dispatch[][]>} the prepared commands of every segment
 * @throws {EngineError} KernelError naming the kernel or the node
 */
export async function prepare(device, pipelines, plan, buffers) {
  /** @type {Map<number, Kernel>} */
  const kernels = new Map();
  // Wait for all before reporting a failure, so that no compilation outlives this call.
  const results = await Promise.allSettled(
    plan.kernels.map(async (kernel) => kernels.set(kernel.id, await pipelines.get(kernel))),
  );
  for (const result of results) if (result.status === "rejected") throw result.reason;

  const { value: dispatches, error } = guarded(device, () => {
    const prepared = plan.commands.map((command) =>
      prepareCommand(device, command, kernels, buffers),
    );
    // Encoding once without submitting reveals invalid commands before training.
    encode(device, prepared);
    return prepared;
  });
  const refusal = await error;
  if (refusal)
    throw (await findCulprit(device, plan, kernels, buffers)) ?? fromGpuError(refusal, "plan");
  return plan.segments.map(([first, last]) => dispatches.slice(first, last));
}

/**
 * @param {GPUDevice} device
 * @param {PlanCommand} command
 * @param {Map<number, Kernel>} kernels
 * @param {Map<number, GPUBuffer>} buffers
 * @returns {Dispatch}
 */
function prepareCommand(device, command, kernels, buffers) {
  /** @param {number} id */
  const bufferOf = (id) => {
    const buffer = buffers.get(id);
    if (!buffer) throw new EngineError("KernelError", `the plan has no buffer ${id}`, command.node);
    return buffer;
  };
  const kernel = kernels.get(command.kernel);
  if (!kernel) {
    throw new EngineError("KernelError", `the plan has no kernel ${command.kernel}`, command.node);
  }
  const group = device.createBindGroup({
    label: command.node,
    layout: kernel.layout,
    entries: command.bindings.map(([id, offset, size], binding) => ({
      binding,
      resource: { buffer: bufferOf(id), offset, size },
    })),
  });
  const [x, y, z] = command.workgroups;
  return { pipeline: kernel.pipeline, group, x, y, z };
}

/**
 * The error of the first command that fails when encoded by itself.
 * @param {GPUDevice} device
 * @param {Plan} plan
 * @param {Map<number, Kernel>} kernels
 * @param {Map<number, GPUBuffer>} buffers
 */
async function findCulprit(device, plan, kernels, buffers) {
  for (const command of plan.commands) {
    const { error } = guarded(device, () =>
      encode(device, [prepareCommand(device, command, kernels, buffers)]),
    );
    const refusal = await error;
    if (refusal) {
      const kernel = plan.kernels.find(({ id }) => id === command.kernel);
      return fromGpuError(refusal, `kernel ${kernel?.family}`, command.node);
    }
  }
  return undefined;
}

/**
 * @param {GPUDevice} device
 * @param {Dispatch[]} dispatches
 * @param {number} [times] repetitions, in order
 * @returns {GPUCommandBuffer}
 */
export function encode(device, dispatches, times = 1) {
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  /** @type {GPUComputePipeline | undefined} */
  let current;
  for (let time = 0; time < times; time++) {
    for (const { pipeline, group, x, y, z } of dispatches) {
      if (current !== pipeline) {
        current = pipeline;
        pass.setPipeline(pipeline);
      }
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(x, y, z);
    }
  }
  pass.end();
  return encoder.finish();
}
