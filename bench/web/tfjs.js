/**
 * TensorFlow.js: `optimizer.minimize` over variables, the data on the device, bias fused where its
 * gradient allows that.
 */

export const CONVENTION = "tensorflow";
const MODULES = "/modules/@tensorflow";

/** @type {any} the library is a classic script that defines this global */
let tf;

function script(path) {
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    Object.assign(element, { src: `${MODULES}/${path}`, onload: resolve, onerror: reject });
    document.head.append(element);
  });
}

/** @returns {Promise<string>} the backend in use: the library falls back silently */
export async function open(backend) {
  await script("tfjs/dist/tf.min.js");
  await script(`tfjs-backend-${backend}/dist/tf-backend-${backend}.min.js`);
  tf = globalThis.tf;
  if (backend === "wasm") tf.wasm.setWasmPaths(`${MODULES}/tfjs-backend-wasm/dist/`);
  await tf.setBackend(backend);
  await tf.ready();
  return tf.getBackend();
}

/** `x` (..., inputs) times a kernel, plus a bias: one product of matrices. */
function affine(x, kernel, bias) {
  const [inputs, outputs] = kernel.shape;
  const y = tf.fused.matMul({ a: x.reshape([-1, inputs]), b: kernel, bias });
  return y.reshape([...x.shape.slice(0, -1), outputs]);
}

function normalized(x, gamma, beta) {
  const { mean, variance } = tf.moments(x, -1, true);
  return x.sub(mean).mul(variance.add(1e-5).rsqrt()).mul(gamma).add(beta);
}

/** GELU by tanh, as in GPT-2. */
function gelu(x) {
  const inner = x.add(x.mul(x).mul(x).mul(0.044715)).mul(Math.sqrt(2 / Math.PI));
  return x.mul(0.5).mul(inner.tanh().add(1));
}

function block(x, heads, next) {
  const products = Array.from({ length: 4 }, () => [next(), next()]);
  const [gamma1, beta1, gamma2, beta2] = [next(), next(), next(), next()];
  const [hidden, result] = [0, 1].map(() => [next(), next()]);
  const [batch, positions, width] = x.shape;
  const normal = normalized(x, gamma1, beta1);
  const [query, key, value] = products.slice(0, 3).map(([kernel, bias]) =>
    affine(normal, kernel, bias)
      .reshape([batch, positions, heads, width / heads])
      .transpose([0, 2, 1, 3]),
  );
  const scores = tf.matMul(query, key, false, true).mul(1 / Math.sqrt(width / heads));
  const context = tf.matMul(scores.add(later(positions)).softmax(), value);
  const sequence = context.transpose([0, 2, 1, 3]).reshape(x.shape);
  const sum = x.add(affine(sequence, ...products[3]));
  return sum.add(affine(gelu(affine(normalized(sum, gamma2, beta2), ...hidden)), ...result));
}

/** -1e9 where a position would see a later one, else 0; computed once. */
const masks = new Map();
function later(positions) {
  if (!masks.has(positions)) {
    const rows = Array.from({ length: positions }, (_, i) =>
      Array.from({ length: positions }, (_, j) => (j > i ? -1e9 : 0)),
    );
    masks.set(positions, tf.keep(tf.tensor2d(rows)));
  }
  return masks.get(positions);
}

function lstm(x, whole, [kernel, recurrent, bias]) {
  const outputs = [];
  let memory = null;
  for (const input of tf.unstack(affine(x, kernel, bias), 1)) {
    const gates = memory ? tf.matMul(outputs.at(-1), recurrent).add(input) : input;
    const [i, f, g, o] = tf.split(gates, 4, 1);
    const candidate = i.sigmoid().mul(g.tanh());
    memory = memory ? f.sigmoid().mul(memory).add(candidate) : candidate;
    outputs.push(o.sigmoid().mul(memory.tanh()));
  }
  return whole ? tf.stack(outputs, 1) : outputs.at(-1);
}

function layer(x, { kind, padding, activation, heads, whole }, next) {
  if (kind === "embedding") return tf.gather(next(), x);
  if (kind === "positions") return x.add(next());
  if (kind === "norm") return normalized(x, next(), next());
  if (kind === "block") return block(x, heads, next);
  if (kind === "lstm") return lstm(x, whole, [next(), next(), next()]);
  if (kind === "flatten") return x.reshape([x.shape[0], -1]);
  if (kind === "pool") return tf.maxPool(x, 2, 2, "valid");
  const [weight, bias] = [next(), next()];
  if (x.rank === 3) return affine(x, weight, bias); // a class for each position
  const fused = { bias, activation: activation === "relu" ? "relu" : "linear" };
  const y =
    kind === "conv"
      ? tf.fused.conv2d({ x, filter: weight, strides: 1, pad: padding, ...fused })
      : tf.fused.matMul({ a: x, b: weight, ...fused });
  return activation === "tanh" ? y.tanh() : y;
}

export function build(spec, batches, weights) {
  const variables = weights.map(({ shape, values }) => tf.variable(tf.tensor(values, shape)));
  const classes = spec.layers.at(-1).units;
  const data = batches.map(([x, y]) => [
    tf.tensor(x.values, x.shape),
    spec.loss === "mse"
      ? tf.tensor(y.values, y.shape)
      : tf.oneHot(tf.tensor1d(y.values, "int32"), classes).toFloat(), // sequences one after another
  ]);
  const optimizer =
    spec.optimizer === "sgd"
      ? tf.train.sgd(spec.learning_rate)
      : tf.train.adam(spec.learning_rate, 0.9, 0.999, 1e-7);
  const outputsOf = (x) => {
    let at = 0;
    return spec.layers.reduce((h, each) => layer(h, each, () => variables[at++]), x);
  };
  const lossOf = ([x, y]) => {
    const result = outputsOf(x);
    return spec.loss === "mse"
      ? tf.losses.meanSquaredError(y, result)
      : tf.losses.softmaxCrossEntropy(y, result.reshape([-1, classes]));
  };
  /** A step of AdamW, which the library lacks: weights decay, then Adam moves them. */
  const decayAndMove = (batch) => {
    const { value, grads } = tf.variableGrads(() => lossOf(batch), variables);
    const kept = 1 - spec.learning_rate * spec.decay;
    tf.tidy(() => variables.forEach((variable) => variable.assign(variable.mul(kept))));
    optimizer.applyGradients(grads);
    tf.dispose(grads);
    return value;
  };
  let [count, loss] = [0, null];
  return {
    step() {
      loss?.dispose();
      const batch = data[count++ % data.length];
      loss = spec.decay
        ? decayAndMove(batch)
        : optimizer.minimize(() => lossOf(batch), true, variables);
    },
    loss: async () => (await loss.data())[0],
    /** The outputs for samples in host memory, copied back. */
    async forward({ values, shape }) {
      const outputs = tf.tidy(() => outputsOf(tf.tensor(values, shape)));
      const read = await outputs.data();
      outputs.dispose();
      return read;
    },
  };
}

/** Return a function that multiplies square matrices `times` times and waits. */
export function product(size) {
  const [a, b] = [tf.randomUniform([size, size]), tf.randomUniform([size, size])];
  return async (times) => {
    for (let i = 1; i < times; i++) tf.matMul(a, b).dispose();
    const last = tf.matMul(a, b);
    await last.slice([0, 0], [1, 1]).data();
    last.dispose();
  };
}
