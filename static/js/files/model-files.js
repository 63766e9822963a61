/** Files of models: out of the engine, and into it. */

import { effect } from "../../vendor/preact.js";
import { LoadError } from "../../engine/downloads.js";
import { lookAt } from "../state/actions.js";
import { EngineFailure } from "../engine/engine-client.js";
import { said } from "../engine/engine-words.js";
import { client } from "../engine/engine.js";
import { ask } from "../engine/questions.js";
import { dataNames } from "./export-names.js";
import * as format from "../words/format.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** @import { Answers, ExportFormat } from "../../engine/messages.js" */

/**
 * The largest weights file that is read, in bytes: this, or a multiple of the size of the weights in
 * float32, whichever is more. In a smaller file, the error names the tensors that do not match.
 */
const LEAST_LIMIT = 64 << 20;
const LIMIT_FACTOR = 4;

/** @param {ExportFormat} format @returns {Promise<Answers["export"]>} @throws {EngineFailure} */
export async function exportModel(format) {
  if (format === "onnx") await obtainOnnx();
  return await ask({ kind: "export", format, names: dataNames() }, store.past.value?.bytes);
}

/**
 * A smaller version of the model as a file.
 * @param {string} name @param {import("../../engine/messages.js").ShrunkFormat} format
 * @returns {Promise<Answers["shrink_export"]>} @throws {EngineFailure}
 */
export async function exportShrunk(name, format) {
  if (format === "onnx") await obtainOnnx();
  return await client.ask({ kind: "shrink_export", name, format });
}

/**
 * Load weights into the model.
 * @param {File} file
 * @param {Record<string, string>} [matching] the tensor of each slot, for a file with other names
 * @returns {Promise<Answers["import"]>} the variables that were set, or a matching for such a file
 */
export async function importWeights(file, matching) {
  const limit = LIMIT_FACTOR * 4 * (store.fit.value?.parameters ?? 0) + LEAST_LIMIT;
  if (file.size > limit) {
    throw fileProblem(t().weights.tooLarge(file.name, format.bytes(file.size)));
  }
  /** @type {ArrayBuffer} */
  let content;
  try {
    content = await file.arrayBuffer();
  } catch (problem) {
    throw fileProblem(t().weights.unreadable(file.name, /** @type {Error} */ (problem).message));
  }
  lookAt(null); // weights are loaded into the model as it is
  return await ask({ kind: "import", name: file.name, matching }, new Uint8Array(content));
}

/**
 * What a file of a model has in it. Nothing changes.
 * @param {string} name with the ending of the format
 * @param {Uint8Array} bytes
 * @param {number} [length] the steps of samples, for a file that leaves them open
 * @returns {Promise<import("../../engine/messages.js").ModelFile>}
 * @throws {EngineFailure} it is damaged, has parts that the library lacks, or needs a length ("SequenceLengthError")
 */
export async function modelFile(name, bytes, length) {
  await engineUp();
  if (name.endsWith(".onnx")) await obtainOnnx();
  return await client.ask({ kind: "model_file", name, sequence_length: length }, bytes);
}

/**
 * Wait until Python takes requests.
 * @returns {Promise<void>}
 * @throws {EngineFailure} it has not started
 */
export function engineUp() {
  return new Promise((resolve, reject) => {
    const dispose = effect(() => {
      const state = store.engine.value;
      if (state === "starting") return;
      queueMicrotask(() => dispose()); // it may not have been returned yet
      if (state === "up") resolve();
      else reject(fileProblem(t().status.notStarted));
    });
  });
}

/** Fetch the part of the library for ONNX files. */
async function obtainOnnx() {
  try {
    await client.expectOnnx();
  } catch (failure) {
    throw failure instanceof LoadError
      ? fileProblem(t().errors.noOnnx(said(failure.sentence)))
      : failure;
  }
}

/** @param {string} message */
const fileProblem = (message) =>
  new EngineFailure({ type: "CheckpointError", message, line: null, op: null });
