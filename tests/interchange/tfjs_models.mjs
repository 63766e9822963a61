/**
 * Models made, saved and run by TensorFlow.js.
 *
 * node program.mjs make FOLDER: saves models, each in a folder of its own, with inputs and predictions.
 * node program.mjs predict FOLDER...: loads saved models and prints their predictions for the inputs beside them.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import "@tensorflow/tfjs-backend-cpu";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops";
import * as tf from "@tensorflow/tfjs-core";
import * as tfl from "@tensorflow/tfjs-layers";

const { layers, sequential, model, input } = tfl;

function mlp() {
  return sequential({
    layers: [
      layers.dense({
        name: "first",
        units: 8,
        inputShape: [6],
        kernelRegularizer: tfl.regularizers.l1l2({ l1: 0.01, l2: 0.02 }),
        kernelConstraint: tfl.constraints.maxNorm({ maxValue: 2 }),
      }),
      layers.batchNormalization(),
      layers.leakyReLU({ alpha: 0.2 }),
      layers.dropout({ rate: 0.3 }),
      layers.dense({ units: 5, activation: "swish" }),
      layers.dense({ units: 3, activation: "softmax" }),
    ],
  });
}

function cnn() {
  const stem = sequential({
    name: "stem",
    layers: [
      layers.conv2d({ filters: 4, kernelSize: 3, inputShape: [8, 8, 2], padding: "same" }),
      layers.batchNormalization({ momentum: 0.9 }),
      layers.activation({ activation: "relu" }),
    ],
  });
  return sequential({
    name: "whole",
    layers: [
      stem,
      layers.maxPooling2d({ poolSize: 2 }),
      layers.depthwiseConv2d({ kernelSize: 3, padding: "same", depthMultiplier: 2 }),
      layers.separableConv2d({ filters: 5, kernelSize: 2, activation: "hardSigmoid" }),
      layers.conv2dTranspose({ filters: 3, kernelSize: 2, strides: 2 }),
      layers.globalAveragePooling2d({}),
      layers.dense({ units: 2 }),
    ],
  });
}

function reader() {
  return sequential({
    layers: [
      layers.embedding({ inputDim: 9, outputDim: 4, inputLength: 6, maskZero: true }),
      layers.lstm({ units: 4, returnSequences: true }),
      layers.bidirectional({ layer: layers.lstm({ units: 3, returnSequences: true }) }),
      layers.gru({ units: 4, returnSequences: true, recurrentActivation: "sigmoid" }),
      layers.timeDistributed({ layer: layers.dense({ units: 3, activation: "tanh" }) }),
      layers.simpleRNN({ units: 4 }),
      layers.dense({ units: 2 }),
    ],
  });
}

/** Words as TensorFlow.js takes them by default, which are floats, and sequences of any length. */
function open() {
  const words = input({ shape: [null] });
  const x = layers.embedding({ inputDim: 9, outputDim: 4 }).apply(words);
  const y = layers.conv1d({ filters: 3, kernelSize: 3, padding: "same" }).apply(x);
  return model({ inputs: words, outputs: layers.globalMaxPooling1d({}).apply(y) });
}

function branches() {
  const left = input({ shape: [4], name: "left" });
  const right = input({ shape: [4], name: "right" });
  const shared = layers.dense({ units: 4, activation: "elu", name: "shared" });
  const inside = input({ shape: [4] });
  const block = model({
    inputs: inside,
    outputs: layers.add().apply([inside, layers.dense({ units: 4, name: "inner" }).apply(inside)]),
    name: "block",
  });
  const chain = sequential({
    name: "chain",
    layers: [layers.dense({ units: 3, inputShape: [12], name: "last" })],
  });
  const joined = layers
    .concatenate({ axis: -1 })
    .apply([block.apply(shared.apply(left)), block.apply(shared.apply(right)), right]);
  const product = layers.dot({ axes: 1 }).apply([left, right]);
  return model({ inputs: [left, right], outputs: [chain.apply(joined), product] });
}

/** Layers by themselves, with the shape of a sample. */
const SINGLE = {
  conv1d: [layers.conv1d({ filters: 3, kernelSize: 2, dilationRate: 2 }), [7, 2]],
  layer_normalization: [layers.layerNormalization(), [5]],
  prelu: [layers.prelu({ sharedAxes: [1] }), [3, 4]],
  relu: [layers.reLU({ maxValue: 1 }), [5]],
  elu: [layers.elu(), [5]],
  softmax: [layers.softmax(), [5]],
  permute: [layers.permute({ dims: [2, 1] }), [3, 4]],
  reshape: [layers.reshape({ targetShape: [2, -1] }), [3, 4]],
  repeat_vector: [layers.repeatVector({ n: 3 }), [4]],
  zero_padding2d: [
    layers.zeroPadding2d({
      padding: [
        [1, 2],
        [0, 3],
      ],
    }),
    [3, 4, 2],
  ],
  cropping2d: [
    layers.cropping2D({
      cropping: [
        [1, 0],
        [0, 1],
      ],
    }),
    [3, 4, 2],
  ],
  up_sampling2d: [layers.upSampling2d({ size: [2, 3] }), [3, 4, 2]],
  average_pooling1d: [layers.averagePooling1d({ poolSize: 2, padding: "same" }), [5, 2]],
  average_pooling2d: [layers.averagePooling2d({ poolSize: 2, strides: 1 }), [5, 4, 2]],
  global_max_pooling1d: [layers.globalMaxPooling1d({}), [5, 2]],
  gelu: [layers.dense({ units: 3, activation: "gelu" }), [5]],
  mish: [layers.dense({ units: 3, activation: "mish" }), [5]],
  log_softmax: [layers.dense({ units: 3, activation: "logSoftmax" }), [5]],
  lstm_backwards: [layers.lstm({ units: 3, goBackwards: true, activation: "relu" }), [5, 2]],
  gru: [layers.gru({ units: 3 }), [5, 2]],
  masking: [layers.masking({ maskValue: 0.5 }), [5, 2]],
  no_bias: [layers.dense({ units: 3, useBias: false, trainable: false }), [5]],
  rescaling: [layers.rescaling({ scale: 0.5, offset: 0.1 }), [3, 4, 2]],
};

const MODELS = { mlp, cnn, reader, open, branches };
for (const [name, [layer, inputShape]] of Object.entries(SINGLE))
  MODELS[name] = () => model1(layer, inputShape);

function model1(layer, shape) {
  const x = input({ shape });
  return model({ inputs: x, outputs: layer.apply(x) });
}

/** A value for each place, between -1 and 1. */
const values = (size, seed) =>
  Float32Array.from({ length: size }, (_, i) => Math.sin(1.7 * i + seed));

function fill(built) {
  const filled = built.getWeights().map((weight, i) => {
    const tensor = tf.tensor(values(weight.size, i), weight.shape);
    return built.weights[i].originalName.endsWith("variance")
      ? tensor.abs().add(0.3)
      : tensor.mul(0.6);
  });
  built.setWeights(filled);
}

function inputsOf(built, name) {
  return built.inputs.map((each, i) => {
    const shape = [3, ...each.shape.slice(1).map((size) => size ?? 6)];
    const size = shape.reduce((a, b) => a * b);
    const data = ["reader", "open"].includes(name)
      ? Array.from({ length: size }, (_, j) => (j * 5) % 9)
      : values(size, i + 3);
    return { shape, data: [...data] };
  });
}

function predictions(built, inputs) {
  const xs = inputs.map(({ data, shape }) => tf.tensor(data, shape, "float32"));
  const results = [built.predict(xs.length > 1 ? xs : xs[0])].flat();
  return results.map((y) => ({ shape: y.shape, data: [...y.dataSync()] }));
}

async function make(folder) {
  for (const [name, build] of Object.entries(MODELS)) {
    const built = build();
    fill(built);
    const target = `${folder}/${name}`;
    mkdirSync(target);
    const save = async ({ weightData, weightSpecs, ...rest }) => {
      const paths = ["group1-shard1of2.bin", "group1-shard2of2.bin"];
      const bytes = Buffer.from(weightData);
      const half = Math.floor(bytes.length / 2) + 1;
      writeFileSync(`${target}/${paths[0]}`, bytes.subarray(0, half));
      writeFileSync(`${target}/${paths[1]}`, bytes.subarray(half));
      const json = { ...rest, weightsManifest: [{ paths, weights: weightSpecs }] };
      writeFileSync(`${target}/model.json`, JSON.stringify(json));
      return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: "JSON" } };
    };
    await built.save(tf.io.withSaveHandler(save));
    const inputs = inputsOf(built, name);
    const data = { inputs, outputs: predictions(built, inputs) };
    writeFileSync(`${target}/predictions.json`, JSON.stringify(data));
  }
}

async function predict(folders) {
  const all = [];
  for (const folder of folders) {
    const { weightsManifest, ...json } = JSON.parse(readFileSync(`${folder}/model.json`, "utf8"));
    const parts = weightsManifest.flatMap(({ paths }) =>
      paths.map((path) => readFileSync(`${folder}/${path}`)),
    );
    const weightData = new Uint8Array(Buffer.concat(parts)).buffer;
    const weightSpecs = weightsManifest.flatMap(({ weights }) => weights);
    const built = await tfl.loadLayersModel({
      load: async () => ({ ...json, weightSpecs, weightData }),
    });
    const { inputs } = JSON.parse(readFileSync(`${folder}/predictions.json`, "utf8"));
    all.push(predictions(built, inputs));
  }
  process.stdout.write(`\n${JSON.stringify(all)}\n`);
}

const [command, ...folders] = process.argv.slice(2);
await tf.setBackend("cpu");
await (command === "make" ? make(folders[0]) : predict(folders));
