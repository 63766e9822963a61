/** The network of this file: read from the document, and run on WebGPU or in WebAssembly. */

import { compiledNetwork } from "./compiled-network.js";
import { gpuPredictor } from "./gpu.js";

/** @import { Data, Tensor } from "./tensors.js" */
/** @typedef {"gpu" | "webassembly" | "gpu-lost"} Backend */

/**
 * @typedef {object} Network
 * @property {any} about the inputs and outputs, as `about.py` describes them
 * @property {Backend} backend
 * @property {(inputs: Data[]) => Promise<Tensor[]>} predict for a batch of one sample
 */

/**
 * @param {(id: string) => string} textOf returns the text of an element
 * @param {(backend: Backend) => void} onBackend is called when another one takes over
 * @returns {Promise<Network>}
 */
export async function openNetwork(textOf, onBackend) {
  const about = JSON.parse(textOf("about"));
  const { program, plan } = JSON.parse(new TextDecoder().decode(await unpacked(textOf("network"))));
  const weights = await unpacked(textOf("weights"));
  /** @type {ReturnType<typeof compiledNetwork> | undefined} */
  let compiled;
  /** @param {Data[]} inputs */
  const onProcessor = async (inputs) =>
    (await (compiled ??= compiledNetwork(program, weights)))(inputs);
  /** @type {Network} */
  const network = {
    about,
    backend: "webassembly",
    predict: onProcessor,
  };
  const gpu = plan && (await gpuPredictor(plan, weights).catch(() => null));
  if (!gpu) {
    compiled = compiledNetwork(program, weights);
    await compiled; // a browser that cannot run it says so at once
    return network;
  }

  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  network.backend = "gpu";
  gpu.lost.then(() => {
    network.backend = "gpu-lost";
    onBackend("gpu-lost");
  });
  // One after the other: they share the buffers of the device.
  network.predict = (inputs) => {
    const result = last.then(async () => {
      if (network.backend === "gpu") {
        const done = await Promise.race([
          gpu.predict(inputs).catch(() => null),
          gpu.lost.then(() => null),
        ]);
        if (done) return done;
      }
      return onProcessor(inputs);
    });
    last = result.catch(() => {});
    return result;
  };
  return network;
}

/** @param {string} base64 of zlib's format @returns {Promise<ArrayBuffer>} */
async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return await new Response(stream).arrayBuffer();
}
