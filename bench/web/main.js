/**
 * Runs one peer on one workload, given in the query: `?peer=jax&backend=webgpu&workload=w1`, with the
 * settings of `measure`; `workload=matmul` times a 1024 × 1024 × 1024 product instead.
 * The outcome is stored in `globalThis.outcome`.
 */

import { countDispatches, measure } from "./measure.js";

const SIZE = 1024;

const query = new URLSearchParams(location.search);

/** The description of a workload and its arrays, as typed arrays over one file. */
async function load(name, convention) {
  const [spec, buffer] = await Promise.all([
    fetch(`/data/${name}.json`).then((response) => response.json()),
    fetch(`/data/${name}.bin`).then((response) => response.arrayBuffer()),
  ]);
  const array = ({ shape, dtype, offset }) => {
    const length = shape.reduce((product, size) => product * size, 1);
    const Kind = dtype === "int32" ? Int32Array : Float32Array;
    return { shape, values: new Kind(buffer, offset, length) };
  };
  const batchOf = ({ shape, values }, index) => {
    const [count, ...rest] = shape;
    const size = (values.length / count) * spec.batch;
    const part = values.slice(index * size, (index + 1) * size);
    return { shape: [spec.batch, ...rest], values: part };
  };
  const [x, y] = [array(spec.x), array(spec.y)];
  const batches = Array.from({ length: spec.batches }, (_, i) => [batchOf(x, i), batchOf(y, i)]);
  return { spec, batches, weights: spec.weights[convention].map(array) };
}

async function run() {
  const peer = await import(`./${query.get("peer")}.js`);
  const backend = await peer.open(query.get("backend"));
  if (query.get("workload") === "matmul") {
    const multiply = await peer.product(SIZE);
    await multiply(1);
    const started = performance.now();
    await multiply(3);
    const seconds = (performance.now() - started) / 3000;
    return { backend, gflops: (2 * SIZE ** 3) / seconds / 1e9 };
  }
  const { spec, batches, weights } = await load(query.get("workload"), peer.CONVENTION);
  const trainer = await peer.build(spec, batches, weights);
  const number = (name) => Number(query.get(name));
  const settings = {
    first: number("first"),
    budget: number("budget"),
    least: number("least"),
    most: number("most"),
  };
  return { backend, ...(await measure(trainer, settings)) };
}

countDispatches();
run().then(
  (outcome) => (globalThis.outcome = outcome),
  (problem) => (globalThis.outcome = { error: String(problem?.stack ?? problem) }),
);
