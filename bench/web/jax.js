/**
 * jax-js: loss, gradient and optimizer in one `jit`, as its documentation recommends. There is no
 * optimizer package for this version on npm, so Adam is written out.
 *
 * Using an array consumes one reference; `.ref` adds one.
 */

import {
  defaultDevice, init, jit, lax, nn, numpy as np, valueAndGrad,
} from "/modules/@jax-js/jax/dist/index.js"; // prettier-ignore

export const CONVENTION = "jax";
const [BETA_1, BETA_2, EPSILON] = [0.9, 0.999, 1e-7];

/** @returns {Promise<string>} the backend in use */
export async function open(backend) {
  const devices = await init(backend);
  if (!devices.includes(backend)) throw new Error(`jax-js has no ${backend} here`);
  return defaultDevice(backend);
}

function layer(x, { kind, padding, activation }, next) {
  const [batch, channels, height, width] = x.shape;
  if (kind === "flatten") return x.reshape([batch, -1]);
  if (kind === "pool") {
    return np.max(x.reshape([batch, channels, height / 2, 2, width / 2, 2]), [3, 5]);
  }
  const [weight, bias] = [next(), next()];
  const y =
    kind === "conv"
      ? lax.conv(x, weight, [1, 1], padding.toUpperCase()).add(bias.reshape([-1, 1, 1]))
      : np.matmul(x, weight).add(bias);
  if (activation === "relu") return nn.relu(y);
  return activation === "tanh" ? np.tanh(y) : y;
}

function lossFunction(spec) {
  return (weights, x, y) => {
    let at = 0;
    const result = spec.layers.reduce((h, each) => layer(h, each, () => weights[at++]), x);
    if (spec.loss === "mse") return np.mean(np.square(result.sub(y)));
    return nn
      .logSoftmax(result, -1)
      .mul(y)
      .sum()
      .mul(-1 / spec.batch);
  };
}

/** One Adam update; `powers` are beta_1 ** step and beta_2 ** step. */
function adam(rate, { weights, means, squares, powers }, gradients) {
  const [power1, power2] = [powers[0].mul(BETA_1), powers[1].mul(BETA_2)];
  const next = { weights: [], means: [], squares: [], powers: [power1.ref, power2.ref] };
  const [scale1, scale2] = [power1.mul(-1).add(1), power2.mul(-1).add(1)];
  gradients.forEach((gradient, i) => {
    const mean = means[i].mul(BETA_1).add(gradient.ref.mul(1 - BETA_1));
    const square = squares[i].mul(BETA_2).add(np.square(gradient).mul(1 - BETA_2));
    const root = np.sqrt(square.ref.div(scale2.ref)).add(EPSILON);
    next.weights.push(weights[i].sub(mean.ref.div(scale1.ref).div(root).mul(rate)));
    next.means.push(mean);
    next.squares.push(square);
  });
  scale1.dispose();
  scale2.dispose();
  return next;
}

/** A loss, awaited on the backend that slows down when much work is queued. */
const settled = (loss, backend) => (backend === "wasm" ? loss.blockUntilReady() : undefined);

export function build(spec, batches, weights) {
  const image = spec.layers[0].kind === "conv";
  const shapeOf = ({ shape }) => (image ? [shape[0], shape[3], shape[1], shape[2]] : shape);
  const classes = spec.layers.at(-1).units;
  const data = batches.map(([x, y]) => [
    np.array(x.values).reshape(shapeOf(x)),
    spec.loss === "mse"
      ? np.array(y.values).reshape(y.shape)
      : nn.oneHot(np.array(y.values), classes).astype(np.float32),
  ]);
  const gradient = valueAndGrad(lossFunction(spec));
  const update = jit((state, x, y) => {
    const referenced = state.weights.map((weight) => weight.ref);
    const [value, gradients] = gradient(referenced, x, y);
    if (spec.optimizer === "adam") return [value, adam(spec.learning_rate, state, gradients)];
    const moved = state.weights.map((w, i) => w.sub(gradients[i].mul(spec.learning_rate)));
    return [value, { weights: moved }];
  });

  const zeros = () => weights.map(({ shape }) => np.zeros(shape));
  let state = { weights: weights.map(({ shape, values }) => np.array(values).reshape(shape)) };
  if (spec.optimizer === "adam") {
    const powers = [np.array(new Float32Array([1])), np.array(new Float32Array([1]))];
    state = { ...state, means: zeros(), squares: zeros(), powers };
  }
  let [count, loss] = [0, null];
  return {
    step() {
      loss?.dispose();
      const [x, y] = data[count++ % data.length];
      [loss, state] = update(state, x.ref, y.ref);
      return settled(loss, defaultDevice());
    },
    loss: async () => (await loss.ref.data())[0],
  };
}

/** Return a function that multiplies square matrices `times` times and waits. */
export async function product(size) {
  const values = () => Float32Array.from({ length: size * size }, Math.random);
  const [a, b] = [
    np.array(values()).reshape([size, size]),
    np.array(values()).reshape([size, size]),
  ];
  const multiply = jit((left, right) => np.matmul(left, right));
  return async (times) => {
    // Each product is awaited: jax-js never computes a result that is dropped before it is used.
    for (let i = 0; i < times; i++) {
      const result = multiply(a.ref, b.ref);
      await result.blockUntilReady();
      result.dispose();
    }
  };
}
