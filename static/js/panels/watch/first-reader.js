/**
 * Reads a drawn digit while there is no network of the visitor's yet. `tools/digits.py` trained this
 * one; it is small enough for plain JavaScript, so that it answers before Python has started.
 */

import { load } from "../../../engine/downloads.js";
import { urlOf } from "../../../engine/root.js";
import { SIDE } from "../../pictures/digit.js";
import { headerOf } from "../../files/safetensors.js";

/** @typedef {{shape: number[], values: Float32Array}} Weight */

const FILE = "/static/weights/digits.safetensors";

/** @type {{reader: Promise<FirstReader> | null}} */
const loading = { reader: null };

/** @returns {Promise<FirstReader>} the reader, once its weights have arrived */
export function firstReader() {
  loading.reader ??= load(urlOf(FILE)).then((file) => new FirstReader(weightsOf(file)));
  return loading.reader;
}

/**
 * The float32 arrays of a safetensors file.
 * @param {Uint8Array} file
 * @returns {Map<string, Weight>}
 */
export function weightsOf(file) {
  const { header, start } = headerOf(file);
  delete header.__metadata__;
  return new Map(
    Object.entries(header).map(
      ([
        name,
        {
          shape,
          data_offsets: [from, to],
        },
      ]) => {
        const bytes = file.slice(start + from, start + to); // a copy begins where numbers may
        return [name, { shape, values: new Float32Array(bytes.buffer) }];
      },
    ),
  );
}

/** Two convolutions with a stride of 2 and ReLU, then ten scores and their softmax. */
export class FirstReader {
  #weights;

  /** @param {Map<string, Weight>} weights */
  constructor(weights) {
    this.#weights = weights;
  }

  /**
   * @param {Float32Array} image SIDE × SIDE values from 0 to 1, row by row
   * @returns {{probabilities: number[], label: number}}
   */
  read(image) {
    const first = this.#convolve("conv_1", { values: image, shape: [SIDE, SIDE, 1] });
    const second = this.#convolve("conv_2", first);
    const probabilities = softmax(this.#score(second.values));
    return { probabilities, label: probabilities.indexOf(Math.max(...probabilities)) };
  }

  /** @param {string} name */
  #weight(name) {
    const weight = this.#weights.get(name);
    if (!weight) throw new Error(`${FILE} has no ${name}`);
    return weight;
  }

  /**
   * Convolve without padding, with a stride of 2, and set negative results to 0.
   * @param {string} layer
   * @param {Weight} input rows × columns × channels
   * @returns {Weight}
   */
  #convolve(layer, { values, shape: [rows, columns, channels] }) {
    const {
      shape: [tall, wide, , filters],
      values: kernel,
    } = this.#weight(`${layer}/kernel`);
    const bias = this.#weight(`${layer}/bias`).values;
    const shape = [
      Math.floor((rows - tall) / 2) + 1,
      Math.floor((columns - wide) / 2) + 1,
      filters,
    ];
    const sums = new Float32Array(shape[0] * shape[1] * filters);
    const width = wide * channels; // of a line of the kernel, which is a line of the input, too
    for (let place = 0; place < shape[0] * shape[1]; place += 1) {
      const corner = 2 * (Math.floor(place / shape[1]) * columns + (place % shape[1])) * channels;
      const out = sums.subarray(place * filters, (place + 1) * filters);
      out.set(bias);
      for (let each = 0; each < tall * width; each += 1) {
        const value =
          values[corner + Math.floor(each / width) * columns * channels + (each % width)];
        if (value !== 0) addScaled(out, value, kernel, each * filters);
      }
      for (let filter = 0; filter < filters; filter += 1) out[filter] = Math.max(0, out[filter]);
    }
    return { shape, values: sums };
  }

  /** @param {Float32Array} features */
  #score(features) {
    const kernel = this.#weight("scores/kernel").values;
    const scores = this.#weight("scores/bias").values.slice();
    features.forEach((value, index) => addScaled(scores, value, kernel, index * scores.length));
    return scores;
  }
}

/** Add `factor` times a line of `matrix`. @param {Float32Array} sum @param {number} factor @param {Float32Array} matrix @param {number} start */
function addScaled(sum, factor, matrix, start) {
  for (let index = 0; index < sum.length; index += 1) sum[index] += factor * matrix[start + index];
}

/** @param {Float32Array} scores */
function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = Array.from(scores, (score) => Math.exp(score - largest));
  const sum = powers.reduce((total, power) => total + power);
  return powers.map((power) => power / sum);
}
