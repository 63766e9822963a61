/**
 * TensorFlow.js, which has no layers of graph networks: two graph convolutions by hand, with `gather` and `scatterND`, the
 * gradient of both as well, and factors of nodes in the place of factors of edges. The factors are computed once. Its
 * `unsortedSegmentSum`, which is the gradient of `gather`, looks through all edges for each node.
 * `?backend=wasm&first=5&steps=10&rounds=3`; the outcome is stored in `globalThis.outcome`.
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
  const [source, target] = tf.unstack(edges).map((each) => tf.keep(each));
  const added = (values, to) =>
    tf.scatterND(to.expandDims(1), values, [nodes, ...values.shape.slice(1)]);
  const passedOn = tf.customGrad((h) => ({
    value: added(tf.gather(h, source), target),
    gradFunc: (dy) => added(tf.gather(dy, target), source),
  }));
  const loops = added(tf.equal(source, target).toFloat(), target);
  const degree = added(tf.onesLike(target).toFloat(), target);
  const own = tf.sub(1, loops).expandDims(1);
  const scale = degree.add(1).sub(loops).rsqrt().expandDims(1);
  const variables = kernels.flatMap((kernel) => [
    tf.variable(kernel),
    tf.variable(tf.zeros([kernel.shape[1]])),
  ]);
  const layer = (h, number) => {
    const [kernel, bias] = variables.slice(2 * number, 2 * number + 2);
    const sent = h.matMul(kernel).mul(scale);
    return passedOn(sent).add(sent.mul(own)).mul(scale).add(bias);
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
