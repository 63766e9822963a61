/** Runs a network in plain JavaScript, operation by operation. */

import { elementwise } from "./expressions.js";
import { ALONG_AXES } from "./operations/along-axes.js";
import { MOVING } from "./operations/moving.js";
import { PRODUCTS } from "./operations/products.js";

/** @import { Data, Spec, Tensor } from "./tensors.js" */

/**
 * @typedef {{op: string, inputs: number[], outputs: number[], attrs?: object, expressions?: any[][]}} Step
 *   inputs and outputs are numbers of tensors
 * @typedef {{tensors: Spec[], steps: Step[], inputs: number[], outputs: number[],
 *            stored: {tensor: number, offset: number}[]}} Program
 *   `stored`: the byte offsets of weights and constants
 */

/** Functions by the names of operations; elementwise ones bring their expressions. */
export const OPERATIONS = { ...ALONG_AXES, ...MOVING, ...PRODUCTS };

/**
 * @param {Program} program
 * @param {ArrayBuffer} weights as on a GPU: a bool takes 4 bytes
 * @returns {(inputs: Data[]) => Tensor[]} predicts
 */
export function interpreter(program, weights) {
  const stored = program.stored.map(({ tensor, offset }) => ({
    tensor,
    value: { ...program.tensors[tensor], data: dataAt(weights, offset, program.tensors[tensor]) },
  }));
  return (inputs) => {
    /** @type {Tensor[]} */
    const values = new Array(program.tensors.length);
    for (const { tensor, value } of stored) values[tensor] = value;
    program.inputs.forEach(
      (tensor, i) => (values[tensor] = { ...program.tensors[tensor], data: inputs[i] }),
    );
    for (const step of program.steps) {
      const read = step.inputs.map((tensor) => values[tensor]);
      const outputs = step.outputs.map((tensor) => program.tensors[tensor]);
      const results = step.expressions
        ? elementwise(step.expressions, read, outputs)
        : OPERATIONS[step.op](read, step.attrs ?? {}, outputs);
      // Some operations have more results than a prediction needs.
      results.forEach((result, i) => (values[step.outputs[i]] = result));
    }
    return program.outputs.map((tensor) => values[tensor]);
  };
}

/** @param {ArrayBuffer} bytes @param {number} offset @param {Spec} spec @returns {Data} */
export function dataAt(bytes, offset, { dtype, shape }) {
  const size = shape.reduce((product, each) => product * each, 1);
  if (dtype === "float32") return new Float32Array(bytes, offset, size);
  if (dtype === "int32") return new Int32Array(bytes, offset, size);
  if (dtype === "uint32") return new Uint32Array(bytes, offset, size);
  if (dtype === "uint8") return new Uint8Array(bytes, offset, size);
  return Uint8Array.from(new Uint32Array(bytes, offset, size));
}
