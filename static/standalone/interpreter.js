/** Runs a network in plain JavaScript, step by step. */

import { elementwise } from "./expressions.js";
import { ALONG_AXES } from "./operations/along-axes.js";
import { MOVING } from "./operations/moving.js";
import { PRODUCTS } from "./operations/products.js";

/** @import { Data, DType, Spec, Tensor } from "./tensors.js" */

/**
 * @typedef {[buffer: number, offset: number, shape: number[], dtype: DType]} Slot
 * @typedef {{op: string, inputs: Slot[], outputs: Slot[], attrs: any, expressions?: any[][]}} Step
 * @typedef {{buffers: {external?: string, data?: string}[], steps: Step[],
 *            inputs: (Slot | null)[], outputs: Slot[]}} Steps
 *   as `compiler/steps_data.py` describes them; an input of which only the shape counts has no slot
 */

/** Functions by the names of operations; elementwise ones bring their expressions. */
export const OPERATIONS = { ...ALONG_AXES, ...MOVING, ...PRODUCTS };

/**
 * @param {Steps} steps
 * @param {ArrayBuffer} weights the content of the external buffer, as on a GPU
 * @returns {(inputs: Data[]) => Tensor[]} predicts
 */
export function interpreter(steps, weights) {
  /** @type {Map<string, Data>} */
  const stored = new Map();
  const contents = steps.buffers.map(({ external, data }) =>
    external ? weights : data ? bytesOf(data) : null,
  );
  for (const slot of [...steps.steps.flatMap(({ inputs }) => inputs), ...steps.outputs]) {
    const bytes = contents[slot[0]];
    if (bytes) stored.set(keyOf(slot), dataAt(bytes, slot[1], specOf(slot)));
  }
  const work = steps.steps.map(({ op, inputs, outputs, attrs, expressions }) => {
    const specs = outputs.map(specOf);
    const [known, formulas] = [plain(attrs), expressions && plain(expressions)];
    /** @param {Tensor[]} read */
    const run = (read) =>
      formulas ? elementwise(formulas, read, specs) : OPERATIONS[op](read, known, specs);
    return { run, inputs, outputs };
  });
  return (inputs) => {
    // Each result has an array of its own; its place only tells which result a step reads.
    const memory = new Map(stored);
    /** @param {Slot} slot @returns {Tensor} */
    const read = (slot) => ({
      ...specOf(slot),
      data: /** @type {Data} */ (memory.get(keyOf(slot))),
    });
    steps.inputs.forEach((slot, i) => slot && memory.set(keyOf(slot), inputs[i]));
    for (const step of work) {
      // Some operations have more results than a prediction needs.
      step.run(step.inputs.map(read)).forEach(({ data }, i) => {
        memory.set(keyOf(step.outputs[i]), data);
      });
    }
    return steps.outputs.map(read);
  };
}

/** @param {Slot} slot */
const keyOf = ([buffer, offset]) => `${buffer}:${offset}`;

/** @param {Slot} slot @returns {Spec} */
const specOf = ([, , shape, dtype]) => ({ shape, dtype });

/** @param {string} base64 */
const bytesOf = (base64) =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer;

/** With numbers that JSON lacks: `{"float": "-inf"}` is -Infinity. @param {any} value @returns {any} */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  if ("float" in value) return Number(value.float.replace("inf", "Infinity"));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

/** @param {ArrayBuffer} bytes @param {number} offset @param {Spec} spec @returns {Data} */
export function dataAt(bytes, offset, { dtype, shape }) {
  const size = shape.reduce((product, each) => product * each, 1);
  if (dtype === "float32") return new Float32Array(bytes, offset, size);
  if (dtype === "int32") return new Int32Array(bytes, offset, size);
  if (dtype === "uint32") return new Uint32Array(bytes, offset, size);
  if (dtype === "uint8") return new Uint8Array(bytes, offset, size);
  if (dtype === "int8") return new Int8Array(bytes, offset, size);
  return Uint8Array.from(new Uint32Array(bytes, offset, size));
}
