/**
 * borch: the whole step recorded once by `compiled`, then replayed. The server shrinks the probe
 * that `init` spends a minute on with a software adapter; see `server.py`.
 */

import { Device, Tensor, compiled, init, isSoftwareAdapter, nn, optim } from "/borch.js";

export const CONVENTION = "torch";

/** @returns {Promise<string>} the backend in use; only one can train */
export async function open(backend) {
  if (backend !== "webgpu") throw new Error(`borch cannot train on ${backend}`);
  await init();
  if (isSoftwareAdapter(Device.adapterInfo)) Device.readbackKicks = false;
  return "webgpu";
}

/** The modules of a network, in order. */
function modules(spec) {
  let [height, width, channels] = [0, 0, spec.input_shape[0]];
  if (spec.layers[0].kind === "conv") [height, width, channels] = spec.input_shape;
  return spec.layers.flatMap(({ kind, units, size, padding, activation }) => {
    if (kind === "flatten") {
      channels *= height * width;
      return [new nn.Flatten()];
    }
    if (kind === "pool") {
      [height, width] = [height / 2, width / 2];
      return [new nn.MaxPool2d(2, 2)];
    }
    const around = padding === "same" ? (size - 1) / 2 : 0;
    const module =
      kind === "conv"
        ? new nn.Conv2d(channels, units, size, 1, around)
        : new nn.Linear(channels, units);
    channels = units;
    [height, width] = [height, width].map((length) => length + 2 * around - size + 1);
    const after = { relu: nn.ReLU, tanh: nn.Tanh }[activation];
    return after ? [module, new after()] : [module];
  });
}

export async function build(spec, batches, weights) {
  const model = new nn.Sequential(...modules(spec));
  const names = Object.keys(model.stateDict());
  const tensors = weights.map(({ shape, values }) => Tensor.from(values, shape));
  model.loadStateDict(Object.fromEntries(names.map((name, i) => [name, tensors[i]])));
  const image = spec.layers[0].kind === "conv";
  const shapeOf = ({ shape }) => (image ? [shape[0], shape[3], shape[1], shape[2]] : shape);
  const dtype = spec.loss === "mse" ? "float32" : "int64";
  const data = batches.map(([x, y]) => [
    Tensor.from(x.values, shapeOf(x)),
    Tensor.from(y.values, y.shape, { dtype }),
  ]);
  const optimizer =
    spec.optimizer === "sgd"
      ? new optim.SGD(model.parameters(), spec.learning_rate)
      : new optim.Adam(model.parameters(), spec.learning_rate, [0.9, 0.999], 1e-7);
  const criterion = spec.loss === "mse" ? new nn.MSELoss() : new nn.CrossEntropyLoss();
  const step = compiled((x, y) => {
    optimizer.zeroGrad();
    const loss = criterion.forward(model.forward(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  let [count, loss] = [0, null];
  return {
    async step() {
      loss = await step.call(...data[count++ % data.length]);
    },
    loss: async () => (await loss.toArray())[0],
  };
}

/** Return a function that multiplies square matrices `times` times and waits. */
export async function product(size) {
  const values = () => Float32Array.from({ length: size * size }, Math.random);
  const [a, b] = [Tensor.from(values(), [size, size]), Tensor.from(values(), [size, size])];
  return async (times) => {
    let last = a;
    for (let i = 0; i < times; i++) last = a.matmul(b);
    await last.sum().toArray();
  };
}
