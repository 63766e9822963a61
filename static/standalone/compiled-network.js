/**
 * Runs a network in WebAssembly: one call of a module for each prediction.
 *
 * `app/playgrad/wasm/step.py` describes the module. It works on one memory: a table, with the
 * addresses of weights, inputs and large constants; these arrays; small constants; results.
 */

import { dataAt, viewAt, zeros } from "./tensors.js";
import { words } from "./words.js";

/** @import { DType, Data, Tensor } from "./tensors.js" */

/**
 * @typedef {[shape: number[], dtype: DType]} Spec
 * @typedef {{module: string, runs: number, constants: string, scratch: number, block: number,
 *   weights: [offset: number, shape: number[], dtype: DType][], inputs: (Spec | null)[],
 *   held: string[], outputs: [region: "block" | "constants" | "arrays", place: number,
 *   shape: number[], dtype: DType][], nodes: Record<string, string>}} Program
 *   as `app/playgrad/interchange/webpage/program.py` describes it; an input of which only the shape
 *   counts is null
 */

/** The browser cannot run the network. */
export class OldBrowserError extends Error {}

/**
 * The table: the operation under way, whether it refuses its inputs, steps done, whether a long loop
 * is to be called again, four words of threads, then addresses.
 */
const [UNDER_WAY, FAILURE, UNFINISHED, FIRST_POINTER] = [0, 1, 3, 8];
const PAGE = 1 << 16;

/**
 * @param {Program} program
 * @param {ArrayBuffer} weights as in a GPU's buffer
 * @returns {Promise<(inputs: Data[]) => Tensor[]>} predicts
 * @throws {OldBrowserError} it has no WebAssembly SIMD
 * @throws {RangeError} it has not enough memory
 */
export async function compiledNetwork(program, weights) {
  const module = bytesOf(program.module);
  if (!WebAssembly.validate(module)) throw new OldBrowserError(words.oldBrowser);
  const read = program.inputs.flatMap((spec, i) => (spec ? [i] : []));
  const arrays = [
    ...program.weights.map(([offset, shape, dtype]) => dataAt(weights, offset, { shape, dtype })),
    ...read.map((i) => zeros(specOf(/** @type {Spec} */ (program.inputs[i])))),
    ...program.held.map(bytesOf),
  ];
  const constants = bytesOf(program.constants);
  let size = 0;
  /** The address of the next `bytes`. @param {number} bytes */
  const take = (bytes) => {
    const address = size;
    size += 16 * Math.ceil(bytes / 16);
    return address;
  };
  const table = take(4 * (FIRST_POINTER + arrays.length));
  const addresses = arrays.map((array) => take(array.byteLength));
  const places = {
    constants: take(constants.byteLength),
    block: take(program.block),
    scratch: take(program.scratch),
  };
  const memory = new WebAssembly.Memory({ initial: Math.ceil(size / PAGE) });
  const { instance } = await WebAssembly.instantiate(module, { host: { memory } });
  const runs = Array.from(
    { length: program.runs },
    (_, i) => /** @type {Function} */ (instance.exports[`run${i}`]),
  );
  /** @param {ArrayBufferView} data @param {number} address */
  const put = ({ buffer, byteOffset, byteLength }, address) =>
    new Uint8Array(memory.buffer, address, byteLength).set(
      new Uint8Array(buffer, byteOffset, byteLength),
    );
  arrays.forEach((array, i) => put(array, addresses[i]));
  put(constants, places.constants);
  const state = new Int32Array(memory.buffer, table, FIRST_POINTER + arrays.length);
  state.set(addresses, FIRST_POINTER);

  return (inputs) => {
    read.forEach((i, number) => put(inputs[i], addresses[program.weights.length + number]));
    state.fill(0, 0, FIRST_POINTER);
    for (const run of runs) {
      do run(places.scratch, places.block, places.constants, table, 1);
      while (state[UNFINISHED]);
      // The operations that may refuse their inputs are those that look something up.
      if (state[FAILURE]) throw new RangeError(words.outside(program.nodes[state[UNDER_WAY]]));
    }
    return program.outputs.map(([region, place, shape, dtype]) => {
      const address = region === "arrays" ? addresses[place] : places[region] + place;
      return { shape, dtype, data: viewAt(memory.buffer, address, { shape, dtype }).slice() };
    });
  };
}

/** @param {Spec} spec */
const specOf = ([shape, dtype]) => ({ shape, dtype });

/** @param {string} base64 */
const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
