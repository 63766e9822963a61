/**
 * The outputs of a trained network for one batch, again and again: `?peer=ort&workload=w1&batch=64&seconds=3&threads=2`.
 * ONNX Runtime Web reads a file (bench/peers/onnx_network.py), TensorFlow.js has the layers of the training benchmark; both
 * compute in WebAssembly. The outcome is stored in `globalThis.outcome`.
 */

const query = new URLSearchParams(location.search);
const [workload, batch] = [query.get("workload"), Number(query.get("batch"))];

/** Rounds of about this many milliseconds; each gives the time of a call. */
const ROUND_MS = 5;

async function load() {
  const [spec, buffer] = await Promise.all([
    fetch(`/data/${workload}.json`).then((response) => response.json()),
    fetch(`/data/${workload}.bin`).then((response) => response.arrayBuffer()),
  ]);
  const array = ({ shape, offset }) => {
    const length = shape.reduce((product, size) => product * size, 1);
    return { shape, values: new Float32Array(buffer, offset, length) };
  };
  const shape = [batch, ...spec.x.shape.slice(1)];
  const size = shape.reduce((product, each) => product * each, 1);
  const x = { shape, values: new Float32Array(buffer, spec.x.offset, size).slice() };
  return { spec, x, weights: spec.weights.tensorflow.map(array) };
}

const peers = {
  async ort() {
    const ort = await import("/modules/onnxruntime-web/dist/ort.wasm.min.mjs");
    ort.env.wasm.wasmPaths = "/modules/onnxruntime-web/dist/";
    ort.env.wasm.numThreads = Number(query.get("threads"));
    const file = `/data/${workload}-inference.onnx`;
    const session = await ort.InferenceSession.create(file, { executionProviders: ["wasm"] });
    const { x } = await load();
    const [input] = session.inputNames;
    const [output] = session.outputNames;
    const feeds = { [input]: new ort.Tensor("float32", x.values, x.shape) };
    return async () => (await session.run(feeds, [output]))[output].data;
  },
  async tfjs() {
    const { open, build } = await import("./tfjs.js");
    const backend = await open("wasm");
    if (backend !== "wasm") throw new Error(`TensorFlow.js runs on ${backend}`);
    const { spec, x, weights } = await load();
    const { forward } = build(spec, [], weights);
    return () => forward(x);
  },
};

async function run() {
  const predict = await peers[query.get("peer")]();
  const outputs = Array.from(await predict());
  for (let call = 0; call < 3; call += 1) await predict();
  const times = [];
  let count = 1;
  const end = performance.now() + 1000 * Number(query.get("seconds"));
  while (performance.now() < end) {
    const began = performance.now();
    for (let call = 0; call < count; call += 1) await predict();
    const each = (performance.now() - began) / count;
    times.push(each);
    count = Math.max(1, Math.round(ROUND_MS / each));
  }
  return { outputs, times: times.slice(1) };
}

run().then(
  (outcome) => (globalThis.outcome = outcome),
  (problem) => (globalThis.outcome = { error: String(problem?.message ?? problem) }),
);
