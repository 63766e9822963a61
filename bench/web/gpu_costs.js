/**
 * Measures what a GPU costs beneath playgrad, in WebGPU alone: dispatches, memory, and products by
 * their tiles. `?largest=4096` is the largest product; `?megabytes=256` the tensor that is copied.
 * The outcome is stored in `globalThis.outcome`.
 */

import { expected, productCode, TILES } from "./gpu_costs_product.js";

const query = new URLSearchParams(location.search);
const LARGEST = Number(query.get("largest"));
const BYTES = Number(query.get("megabytes")) << 20;
const REPEATS = 7;
const MOST_WORKGROUPS = 32768;
const WANTED = ["subgroups", "timestamp-query", "shader-f16"];

/** A device, with the few calls that the measurements need. */
class Gpu {
  static async open() {
    const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter) throw new Error("there is no WebGPU adapter");
    const most = (name) => Math.min(2 ** 30, adapter.limits[name]);
    const device = await adapter.requestDevice({
      requiredFeatures: WANTED.filter((feature) => adapter.features.has(feature)),
      requiredLimits: {
        maxStorageBufferBindingSize: most("maxStorageBufferBindingSize"),
        maxBufferSize: most("maxBufferSize"),
      },
    });
    return new Gpu(adapter, device);
  }

  constructor(adapter, device) {
    this.device = device;
    const { vendor, architecture, description } = adapter.info;
    this.description = {
      adapter: [vendor, architecture, description].filter(Boolean).join(" "),
      features: [...adapter.features].sort(),
      opened: [...device.features].sort(),
    };
    /** Errors of the device; a measurement with one is worth nothing. */
    this.errors = [];
    device.onuncapturederror = ({ error }) => this.errors.push(error.message);
  }

  buffer(size) {
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    return this.device.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST });
  }

  pipeline(code) {
    const module = this.device.createShaderModule({ code });
    return this.device.createComputePipeline({ layout: "auto", compute: { module } });
  }

  bind(pipeline, ...buffers) {
    const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
    return this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  }

  /**
   * Commands of `count` dispatches that use `groups` in turn.
   * @param {boolean} apart whether each has a pass of its own
   */
  commands(pipeline, groups, workgroups, count, apart = false) {
    const encoder = this.device.createCommandEncoder();
    let pass = null;
    for (let i = 0; i < count; i++) {
      if (!pass || apart) {
        pass?.end();
        pass = encoder.beginComputePass();
        pass.setPipeline(pipeline);
      }
      pass.setBindGroup(0, groups[i % groups.length]);
      pass.dispatchWorkgroups(...workgroups);
    }
    pass?.end();
    return encoder.finish();
  }

  /** The least milliseconds until what `commands` returns has ended. */
  async milliseconds(commands) {
    const { device } = this;
    let least = Infinity;
    for (let i = 0; i < REPEATS; i++) {
      const buffer = commands();
      await device.queue.onSubmittedWorkDone();
      const started = performance.now();
      device.queue.submit([buffer]);
      let ended = false;
      const done = device.queue.onSubmittedWorkDone().then(() => (ended = true));
      // Chromium looks for ended work only when commands arrive.
      while (!ended) {
        device.pushErrorScope("internal");
        await Promise.race([done, device.popErrorScope()]);
      }
      least = Math.min(least, performance.now() - started);
    }
    return least;
  }

  /** Milliseconds of a dispatch, from the difference between few and `more` more of them. */
  async each(pipeline, groups, workgroups, more, apart = false, few = 2) {
    const time = (count) =>
      this.milliseconds(() => this.commands(pipeline, groups, workgroups, count, apart));
    const start = await time(few);
    return ((await time(few + more)) - start) / more;
  }

  async read(source, offset, count) {
    const { MAP_READ, COPY_DST } = GPUBufferUsage;
    const staging = this.device.createBuffer({ size: 4 * count, usage: MAP_READ | COPY_DST });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(source, 4 * offset, staging, 0, 4 * count);
    this.device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const values = new Float32Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return values;
  }
}

const HEAD = (type) => `
@group(0) @binding(0) var<storage, read> x: array<${type}>;
@group(0) @binding(1) var<storage, read_write> y: array<${type}>;`;

/** Microseconds of a small dispatch, by whether it waits for the one before. */
async function dispatches(gpu) {
  const pipeline = gpu.pipeline(`${HEAD("f32")}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) i: vec3u) {
  y[i.x] = x[i.x] * 1.001 + 0.5;
}`);
  const [a, b] = [gpu.buffer(1 << 16), gpu.buffer(1 << 16)];
  const there = gpu.bind(pipeline, a, b);
  const back = gpu.bind(pipeline, b, a);
  const rows = [];
  for (const [name, groups, apart] of [
    ["wait for each other, in one pass", [there, back], false],
    ["wait for each other, in passes of their own", [there, back], true],
    ["write the same, in one pass", [there], false],
  ]) {
    const time = await gpu.each(pipeline, groups, [16], 2000, apart, 200);
    rows.push({ name, microseconds: 1000 * time });
  }
  return rows;
}

/** GB/s read and written, by what an invocation moves. */
async function bandwidth(gpu) {
  const [a, b] = [gpu.buffer(BYTES), gpu.buffer(BYTES)];
  const rows = [];
  for (const [type, vectors, size, f] of [
    ["f32", 1, 256, "tanh"],
    ["vec4f", 1, 64, "tanh"],
    ["vec4f", 1, 256, "tanh"],
    ["vec4f", 4, 256, "tanh"],
    ["vec4f", 8, 256, "tanh"],
    ["vec4f", 4, 256, ""],
  ]) {
    const parts = Array.from({ length: vectors }, (_, i) => i);
    const loads = parts.map((i) => `let v${i} = x[i + ${i * size}u];`).join(" ");
    const stores = parts.map((i) => `y[i + ${i * size}u] = ${f}(v${i});`).join(" ");
    const pipeline = gpu.pipeline(`${HEAD(type)}
@compute @workgroup_size(${size}) fn main(
  @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) g: vec3u,
  @builtin(num_workgroups) n: vec3u,
) {
  let i = (g.y * n.x + g.x) * ${vectors * size}u + l;
  ${loads} ${stores}
}`);
    const each = (type === "f32" ? 4 : 16) * vectors;
    const count = BYTES / (each * size);
    const workgroups = [Math.min(count, MOST_WORKGROUPS), Math.max(1, count / MOST_WORKGROUPS)];
    const groups = [gpu.bind(pipeline, a, b), gpu.bind(pipeline, b, a)];
    const time = await gpu.each(pipeline, groups, workgroups, 20);
    const name = `${each} bytes, workgroups of ${size}, ${f || "copy"}`;
    rows.push({ name, gigabytes: (2 * BYTES) / time / 1e6 });
  }
  a.destroy();
  b.destroy();
  return rows;
}

/** GFLOP/s of square products, by their tiles; the error of one element shows that it is right. */
async function products(gpu) {
  const rows = [];
  for (let size = Math.min(1024, LARGEST); size <= LARGEST; size *= 2) {
    const [a, b, c] = Array.from({ length: 3 }, () => gpu.buffer(4 * size * size));
    const fill = (f) => new Float32Array(size * size).map((_, i) => f(i) / 30);
    gpu.device.queue.writeBuffer(a, 0, fill(Math.sin));
    gpu.device.queue.writeBuffer(
      b,
      0,
      fill((i) => Math.cos(3 * i)),
    );
    for (const tile of TILES) {
      const pipeline = gpu.pipeline(productCode(tile, size));
      const workgroups = [size / tile.columns, size / tile.rows];
      const more = Math.max(1, Math.round(2e11 / size ** 3 / (size < 1024 ? 1e4 : 1)));
      const time = await gpu.each(
        pipeline,
        [gpu.bind(pipeline, a, b, c)],
        workgroups,
        more,
        false,
        1,
      );
      const [value] = await gpu.read(c, size + 7, 1);
      const error = Math.abs(value - expected(size, 1, 7));
      rows.push({ size, ...tile, gigaflops: (2 * size ** 3) / time / 1e6, error });
    }
    for (const buffer of [a, b, c]) buffer.destroy();
  }
  return rows;
}

async function run() {
  const gpu = await Gpu.open();
  const rows = {
    dispatches: await dispatches(gpu),
    bandwidth: await bandwidth(gpu),
    products: await products(gpu),
  };
  if (gpu.errors.length) throw new Error(gpu.errors[0]);
  return { ...gpu.description, ...rows };
}

run().then(
  (outcome) => (globalThis.outcome = outcome),
  (error) => (globalThis.outcome = { error: String(error) }),
);
