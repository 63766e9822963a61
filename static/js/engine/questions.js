/** The questions that views of the page ask about the model. None changes it. */

import * as store from "../state/store.js";
import { client } from "./engine.js";

/**
 * @import {
 *   Answers, AttentionView, LayersQuestion, LayersView, NextTokensView, NodeMatches, NodeView, OneSampleView, Placement, ProjectionView, Question, SamplesView, TaskView
 * } from "../../engine/messages.js"
 */

/** How long a network writes text at a time, while it trains and else. */
const WRITING_SECONDS = 0.1;
const WRITING_SECONDS_AT_REST = 0.8;

/**
 * Ask about the model. If Python has none, because it was restarted or its program trained nothing,
 * it takes the kept weights first.
 * @template {Question} Q
 * @param {Q} question
 * @param {Uint8Array} [payload] of questions about weights: the checkpoint that is looked at
 * @returns {Promise<Answers[Q["kind"]]>}
 * @throws {EngineFailure}
 */
export async function ask(question, payload) {
  const kept = store.kept.value;
  if (kept && !store.canInspect.value && !store.active.value) {
    store.liveModel.value = true; // the requests are served in order
    client.ask({ kind: "restore" }, kept.bytes).catch(() => (store.liveModel.value = false));
  }
  return await client.ask(question, payload);
}

/**
 * Classify a drawing with the current weights.
 * @param {Float32Array} pixels 784 of them, 0 to 1, row by row
 * @returns {Promise<Answers["predict"]>}
 * @throws {EngineFailure}
 */
export async function predict(pixels) {
  const rounded = Array.from(pixels, (value) => Math.round(value * 1000) / 1000);
  return await ask({ kind: "predict", pixels: rounded }, store.past.value?.bytes);
}

/**
 * The first output of the model for inputs as they are.
 * @param {number[][]} x the numbers of each input
 * @returns {Promise<Uint8Array>} all outputs in a row, as float32
 * @throws {EngineFailure}
 */
export async function outputsFor(x) {
  return await ask({ kind: "outputs", x }, store.past.value?.bytes);
}

/**
 * What the model does with its data.
 * @param {number} known the version of the data that the page has
 * @returns {Promise<TaskView>}
 * @throws {EngineFailure}
 */
export async function taskView(known) {
  const { prompt, temperature, seed } = store.sample.value;
  const seconds = store.runState.value === "running" ? WRITING_SECONDS : WRITING_SECONDS_AT_REST;
  const question = {
    kind: /** @type {const} */ ("task_view"),
    known,
    sample: { prompt, temperature, seed, seconds },
  };
  return await ask(question, store.past.value?.bytes);
}

/**
 * The histograms of the layers that were recorded; from now on some more will be.
 * @returns {Promise<Answers["histograms"]>}
 * @throws {EngineFailure}
 */
export async function histograms() {
  return await ask({ kind: "histograms" });
}

/**
 * The layers of the model, and one of them for one sample.
 * @param {LayersQuestion} question
 * @returns {Promise<LayersView>}
 * @throws {EngineFailure}
 */
export async function inspectLayers(question) {
  return await ask({ kind: "inspect_layers", ...question }, store.past.value?.bytes);
}

/**
 * The model's predictions for single samples.
 * @param {number} known the version of the samples that the page has
 * @returns {Promise<SamplesView>}
 * @throws {EngineFailure}
 */
export async function samplesView(known) {
  return await ask({ kind: "samples", known }, store.past.value?.bytes);
}

/**
 * Any sample of the data, with what the model predicts for it.
 * @param {number} number
 * @returns {Promise<OneSampleView>}
 * @throws {EngineFailure}
 */
export async function oneSampleView(number) {
  return await ask({ kind: "one_sample", number }, store.past.value?.bytes);
}

/**
 * The samples by a layer's principal components.
 * @param {number} known the version of the samples that the page has
 * @param {string} layer "" for the last hidden one
 * @param {number} dimensions how many components, at most
 * @returns {Promise<ProjectionView>}
 * @throws {EngineFailure}
 */
export async function projectionView(known, layer, dimensions) {
  return await ask({ kind: "projection", known, layer, dimensions }, store.past.value?.bytes);
}

/**
 * The weights of attention for one sample.
 * @param {number} sample
 * @param {string} layer "" for the first that has attention
 * @returns {Promise<AttentionView>}
 * @throws {EngineFailure}
 */
export async function attentionView(sample, layer) {
  return await ask({ kind: "attention", sample, layer }, store.past.value?.bytes);
}

/**
 * The tokens that the model expects after each position of a text.
 * @param {{text: string | null, sample: number, temperature: number}} question `text`: null for that of the sample
 * @returns {Promise<NextTokensView>}
 * @throws {EngineFailure}
 */
export async function nextTokensView(question) {
  return await ask({ kind: "next_tokens", ...question }, store.past.value?.bytes);
}

/**
 * The value of a node of the graph, or the gradient of the loss with respect to it.
 * @param {{name: string, output: number, part: "value" | "gradient", sample: import("../../engine/messages.js").BatchChoice}} question
 * @returns {Promise<NodeView>}
 * @throws {EngineFailure}
 */
export async function nodeView(question) {
  return await client.ask({ kind: "node_view", ...question }); // kept weights have no graph
}

/**
 * The nodes of the graph for which a query holds.
 * @param {string} query
 * @returns {Promise<NodeMatches>}
 * @throws {EngineFailure}
 */
export async function findNodes(query) {
  return await client.ask({ kind: "node_find", query });
}

/**
 * The kernel that computes a node of the graph.
 * @param {string} name
 * @returns {Promise<Answers["node_kernel"]>}
 * @throws {EngineFailure}
 */
export async function nodeKernel(name) {
  return await client.ask({ kind: "node_kernel", name });
}

/**
 * Open the bench of a node's kernels, or try `wgsl` on it in place of number `kernel`.
 * @param {string} name
 * @param {"open" | "check" | "time" | "close"} action
 * @param {string} [wgsl] @param {number} [kernel]
 * @returns {Promise<Answers["kernel_bench"]>}
 * @throws {EngineFailure}
 */
export async function kernelBench(name, action, wgsl = "", kernel = 0) {
  return await client.ask(
    { kind: "kernel_bench", name, action, kernel },
    new TextEncoder().encode(wgsl),
  );
}

/**
 * The time that a node of the graph takes by itself.
 * @param {string} name
 * @returns {Promise<Answers["node_time"]>}
 * @throws {EngineFailure}
 */
export async function nodeTime(name) {
  return await client.ask({ kind: "node_time", name });
}

/**
 * The device of each operation of the last training step, with the reason.
 * @returns {Promise<Placement>}
 * @throws {EngineFailure}
 */
export async function placement() {
  return await ask({ kind: "placement" });
}

/**
 * Measure a training step, which changes nothing.
 * @param {boolean} apart with a kernel for each operation
 * @returns {Promise<Answers["execution"]>}
 * @throws {EngineFailure}
 */
export async function measureStep(apart) {
  return await ask({ kind: "execution", apart });
}

/**
 * Run a training step on copies of the variables, operation by operation.
 * @returns {Promise<Answers["operations"]>}
 * @throws {EngineFailure}
 */
export async function stepOperations() {
  return await ask({ kind: "operations" });
}
