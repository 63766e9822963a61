/**
 * TensorFlow.js, which has no layers of graph networks: two graph convolutions by hand. Rows of neighbours are added up by
 * `sparse.sparseSegmentSum`, which reads them and adds them in one kernel, over edges that are sorted once by their target,
 * and for the gradient once by their source; `?sum=scatter` takes `gather` and `scatterND` instead. Factors of nodes take
 * the place of factors of edges. (`unsortedSegmentSum`, the gradient of `gather`, looks through all edges for each node.)
 * `?backend=wasm&sum=segment&first=5&steps=5&rounds=3`; the outcome is stored in `globalThis.outcome`.
 */

import { open } from "./tfjs.js";

const query = new URLSearchParams(location.search);

async function run() {
  const backend = await open(query.get("backend"));
  const tf = globalThis.tf;
  const [spec, buffer] = await Promise.all([
    fetch("/data/w6.json").then((response) => response.json()),
    fetch("/data/w6.bin").then((response) => response.arrayBuffer()),
  ]);
  const [x, edges, y, ...kernels] = spec.arrays.map(({ shape, dtype, offset }) => {
    const length = shape.reduce((product, size) => product * size, 1);
    const Kind = dtype === "int32" ? Int32Array : Float32Array;
    return tf.tensor(new Kind(buffer, offset, length), shape, dtype);
  });
  const [nodes] = x.shape;
  const sum = query.get("sum") ?? "segment";
  // One edge from each node to itself, in the place of those there are.
  const [from, to] = await edges.array();
  const kept = [...from.keys()].filter((edge) => from[edge] !== to[edge]);
  const itself = Array.from({ length: nodes }, (_, node) => node);
  const ends = [from, to].map((each) => [...kept.map((edge) => each[edge]), ...itself]);
  const sorted = ([sources, targets]) => {
    const order = [...targets.keys()].sort((one, other) => targets[one] - targets[other]);
    return [sources, targets].map((each) =>
      tf.tensor1d(
        order.map((edge) => each[edge]),
        "int32",
      ),
    );
  };
  const [forth, back] = [sorted(ends), sorted(ends.toReversed())];
  const scattered = (values, targets) =>
    tf.scatterND(targets.expandDims(1), values, [nodes, ...values.shape.slice(1)]);
  const summed = (h, [sources, targets]) =>
    sum === "segment"
      ? tf.sparse.sparseSegmentSum(h, sources, targets)
      : scattered(tf.gather(h, sources), targets);
  const passedOn = tf.customGrad((h) => ({
    value: summed(h, forth),
    gradFunc: (dy) => summed(dy, back),
  }));
  const degree = scattered(tf.onesLike(forth[1]).toFloat(), forth[1]);
  const scale = degree.rsqrt().expandDims(1);
  const variables = kernels.flatMap((kernel) => [
    tf.variable(kernel),
    tf.variable(tf.zeros([kernel.shape[1]])),
  ]);
  const layer = (h, number) => {
    const [kernel, bias] = variables.slice(2 * number, 2 * number + 2);
    const sent = h.matMul(kernel).mul(scale);
    return passedOn(sent).mul(scale).add(bias);
  };
  const labels = tf.oneHot(y, spec.classes).toFloat();
  const lossOf = () => tf.losses.softmaxCrossEntropy(labels, layer(layer(x, 0).relu(), 1));
  const optimizer = tf.train.adam(spec.rate, 0.9, 0.999, 1e-7);
  const steps = async (count) => {
    const losses = Array.from({ length: count }, () => optimizer.minimize(lossOf, true, variables));
    const values = [];
    for (const each of losses) values.push((await each.data())[0]);
    tf.dispose(losses);
    return values;
  };
  const losses = await steps(Number(query.get("first")));
  const times = [];
  for (let round = 0; round < Number(query.get("rounds")); round += 1) {
    const began = performance.now();
    await steps(Number(query.get("steps")));
    times.push((performance.now() - began) / Number(query.get("steps")));
  }
  return { backend, losses, times };
}

run().then(
  (outcome) => (globalThis.outcome = outcome),
  (problem) => (globalThis.outcome = { error: String(problem?.message ?? problem) }),
);
