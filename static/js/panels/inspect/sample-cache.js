/** The samples that the views of the panel Inspect show. They are sent once, and cached for all views. */

import { effect } from "../../../vendor/preact.js";
import { EngineFailure } from "../../engine/engine-client.js";
import { projectionView, samplesView } from "../../engine/questions.js";
import * as store from "../../state/store.js";
import { floats, integers } from "../../training/task.js";

/**
 * @import { ManySamples, NoSamples, OneSampleView, ProjectionView, SampleData } from "../../../engine/messages.js"
 * @typedef {{data: SampleData, numbers: Int32Array, truth: Float32Array, predicted: Float32Array,
 *            chances: Float32Array | null, losses: Float32Array}} Samples `numbers`: of the samples in the data
 * @typedef {{shows: "none", reason: NoSamples, seconds: number}} Nothing
 * @typedef {Extract<ProjectionView, {shows: "points"}>} PointsView
 */

/** The samples that were sent last. */
const last = { version: 0, data: /** @type {SampleData | null} */ (null) };

effect(() => {
  // Another Python counts versions anew.
  if (!store.liveModel.value) Object.assign(last, { version: 0, data: null });
});

/** @returns {Promise<Nothing | {shows: "samples", samples: Samples, seconds: number}>} */
export async function askSamples() {
  const view = await samplesView(last.version);
  if (view.shows === "none") return view;
  return { shows: "samples", samples: completed(view), seconds: view.seconds };
}

/** The only sample of an answer. @param {Extract<OneSampleView, {shows: "sample"}>} view @returns {Samples} */
export const completedOne = (view) => joined(view.data, view);

/**
 * @param {string} layer "" for the last hidden one
 * @param {number} dimensions how many components, at most
 * @returns {Promise<Nothing | {shows: "points", view: PointsView, samples: Samples, seconds: number}>}
 */
export async function askProjection(layer, dimensions) {
  const view = await projectionView(last.version, layer, dimensions);
  if (view.shows === "none") return view;
  return { shows: "points", view, samples: completed(view), seconds: view.seconds };
}

/** @param {ManySamples | Extract<ProjectionView, {shows: "points"}>} view @returns {Samples} */
function completed(view) {
  if (view.data) Object.assign(last, { version: view.version, data: view.data });
  if (!last.data || last.version !== view.version) {
    // Of a Python that was replaced after it was asked.
    throw new EngineFailure({ type: "EngineError", message: "", line: null, op: null });
  }
  return joined(last.data, view);
}

/**
 * @param {SampleData} data
 * @param {Pick<ManySamples, "predicted" | "chances" | "losses">} view
 * @returns {Samples}
 */
function joined(data, view) {
  return {
    data,
    numbers: integers(data.numbers),
    truth: floats(data.truth),
    predicted: floats(view.predicted),
    chances: view.chances && floats(view.chances),
    losses: floats(view.losses),
  };
}

/** Whether a class was predicted, but another one is true. @param {Samples} samples @param {number} at */
export const isWrong = ({ data, truth, predicted }, at) =>
  data.classes > 0 && truth[at] !== predicted[at];
