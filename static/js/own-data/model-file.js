/** Files of models that a visitor brings: which they are, as far as their first bytes tell. Python reads the rest. */

import { t } from "../words/locale.js";
import { endingOf } from "./data-names.js";
import { DataProblem, LARGEST, checkSize } from "./problem.js";

/** The text in a safetensors file of the library that describes its layers. */
const LAYERS = "playgrad.model";
/** The longest header of a safetensors file that is read, in bytes. */
const LONGEST_HEADER = 16 << 20;

/** @param {string} name of a file */
export const isModelFile = (name) => endingOf(name) !== "";

/**
 * @param {string} name
 * @param {Blob} blob
 * @returns {Promise<{kind: "model", name: string, bytes: Uint8Array<ArrayBuffer>}>}
 * @throws {DataProblem}
 */
export async function takeModel(name, blob) {
  checkSize(name, blob.size, LARGEST.model);
  if (/\.safetensors$/i.test(name) && !(await describesLayers(blob)))
    throw new DataProblem(t().dataFiles.weights(name));
  return { kind: "model", name, bytes: new Uint8Array(await blob.arrayBuffer()) };
}

/** Whether a safetensors file has more than weights; a damaged one is Python's to name. @param {Blob} blob */
async function describesLayers(blob) {
  if (blob.size < 8) return true;
  const length = Number(new DataView(await blob.slice(0, 8).arrayBuffer()).getBigUint64(0, true));
  if (length > Math.min(blob.size - 8, LONGEST_HEADER)) return true;
  try {
    const header = JSON.parse(await blob.slice(8, 8 + length).text());
    return LAYERS in (header.__metadata__ ?? {});
  } catch {
    return true;
  }
}
