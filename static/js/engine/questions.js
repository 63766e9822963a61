/** The questions that views of the page ask about the model. None changes it; each may fail with an `EngineFailure`. */

import * as store from "../state/store.js";
import { client } from "./engine.js";

/** @import { Answers, BatchChoice, LayersQuestion, Question } from "../../engine/messages.js" */

/** How long a network writes text at a time, while it trains and else. */
const WRITING_SECONDS = 0.1;
const WRITING_SECONDS_AT_REST = 0.8;

/**
 * Ask about the model. If Python has none, because it was restarted or its program trained nothing,
 * it takes the kept weights first.
 * @template {Question} Q
 * @param {Q} question
 * @param {Uint8Array} [payload] of questions about weights: the checkpoint of an earlier step
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
 * Ask about the model as it was at the step that the page shows.
 * @template {Question} Q
 * @param {Q} question
 * @returns {Promise<Answers[Q["kind"]]>}
 */
const askOfStep = (question) => ask(question, store.past.value?.bytes);

/** Classify a drawing with the current weights. @param {Float32Array} pixels 784 of them, 0 to 1, row by row */
export const predict = (pixels) =>
  askOfStep({
    kind: "predict",
    pixels: Array.from(pixels, (value) => Math.round(value * 1000) / 1000),
  });

/** The first output of the model for inputs as they are, as float32. @param {number[][]} x the numbers of each input */
export const outputsFor = (x) => askOfStep({ kind: "outputs", x });

/**
 * The board of the program's game after some moves, and what the network thinks of it.
 * @param {number[]} actions the moves so far @param {number} simulations of the search; 0 for none
 * @param {import("../../engine/messages.js").GameRules | null} rules for a program that has not made its game yet
 */
export function gameView(actions, simulations, rules) {
  const question = { kind: /** @type {const} */ ("game_view"), actions, simulations, rules };
  // Without a network Python knows the rules all the same.
  return store.hasModel.value ? askOfStep(question) : client.ask(question);
}

/** What the model does with its data. @param {number} known the version of the data that the page has */
export function taskView(known) {
  const { prompt, temperature, seed } = store.sample.value;
  const seconds = store.runState.value === "running" ? WRITING_SECONDS : WRITING_SECONDS_AT_REST;
  return askOfStep({ kind: "task_view", known, sample: { prompt, temperature, seed, seconds } });
}

/** The histograms of the layers that were recorded; from now on some more will be. */
export const histograms = () => ask({ kind: "histograms" });

/** The layers of the model, and one of them for one sample. @param {LayersQuestion} question */
export const inspectLayers = (question) => askOfStep({ kind: "inspect_layers", ...question });

/** The model's predictions for single samples. @param {number} known the version of the samples that the page has */
export const samplesView = (known) => askOfStep({ kind: "samples", known });

/** Any sample of the data, with what the model predicts for it. @param {number} number */
export const oneSampleView = (number) => askOfStep({ kind: "one_sample", number });

/**
 * The samples by a layer's principal components.
 * @param {number} known the version of the samples that the page has
 * @param {string} layer "" for the last hidden one
 * @param {number} dimensions how many components, at most
 */
export const projectionView = (known, layer, dimensions) =>
  askOfStep({ kind: "projection", known, layer, dimensions });

/** The weights of attention for one sample. @param {number} sample @param {string} layer "" for the first that has attention */
export const attentionView = (sample, layer) => askOfStep({ kind: "attention", sample, layer });

/**
 * The calls that a Fold of the program joins. Kept weights have no program.
 * @param {string} fold "" for the first one
 * @param {number} sample the one whose tree is drawn
 */
export const treesView = (fold, sample) => client.ask({ kind: "trees", fold, sample });

/**
 * The tokens that the model expects after each position of a text.
 * @param {{text: string | null, sample: number, temperature: number}} question `text`: null for that of the sample
 */
export const nextTokensView = (question) => askOfStep({ kind: "next_tokens", ...question });

/**
 * The value of a node of the graph, or the gradient of the loss with respect to it. Kept weights have no graph.
 * @param {{name: string, output: number, part: "value" | "gradient", sample: BatchChoice}} question
 */
export const nodeView = (question) => client.ask({ kind: "node_view", ...question });

/** The nodes of the graph for which a query holds. @param {string} query */
export const findNodes = (query) => client.ask({ kind: "node_find", query });

/** The kernel that computes a node of the graph. @param {string} name */
export const nodeKernel = (name) => client.ask({ kind: "node_kernel", name });

/**
 * Open the bench of a node's kernels, or try `wgsl` on it in place of number `kernel`.
 * @param {string} name
 * @param {"open" | "check" | "time" | "close"} action
 * @param {string} [wgsl] @param {number} [kernel]
 */
export const kernelBench = (name, action, wgsl = "", kernel = 0) =>
  client.ask({ kind: "kernel_bench", name, action, kernel }, new TextEncoder().encode(wgsl));

/** How the processor computes the nodes of the graph. */
export const computedNodes = () => client.ask({ kind: "computed_nodes" });

/** The time that a node of the graph takes by itself. @param {string} name */
export const nodeTime = (name) => client.ask({ kind: "node_time", name });

/** The device of each operation of the last training step, with the reason. */
export const placement = () => ask({ kind: "placement" });

/** Measure a training step, which changes nothing. @param {boolean} apart with a kernel for each operation */
export const measureStep = (apart) => ask({ kind: "execution", apart });

/** Run a training step on copies of the variables, operation by operation. */
export const stepOperations = () => ask({ kind: "operations" });
