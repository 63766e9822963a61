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

function layer(x, { kind, padding, activation }, next) {
  if (kind === "flatten") return x.reshape([x.shape[0], -1]);
  if (kind === "pool") return tf.maxPool(x, 2, 2, "valid");
  const [weight, bias] = [next(), next()];
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
      : tf.oneHot(tf.tensor1d(y.values, "int32"), classes).toFloat(),
  ]);
  const optimizer =
    spec.optimizer === "sgd"
      ? tf.train.sgd(spec.learning_rate)
      : tf.train.adam(spec.learning_rate, 0.9, 0.999, 1e-7);
  const lossOf = ([x, y]) => {
    let at = 0;
    const result = spec.layers.reduce((h, each) => layer(h, each, () => variables[at++]), x);
    return spec.loss === "mse"
      ? tf.losses.meanSquaredError(y, result)
      : tf.losses.softmaxCrossEntropy(y, result);
  };
  let [count, loss] = [0, null];
  return {
    step() {
      loss?.dispose();
      const batch = data[count++ % data.length];
      loss = optimizer.minimize(() => lossOf(batch), true, variables);
    },
    loss: async () => (await loss.data())[0],
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
