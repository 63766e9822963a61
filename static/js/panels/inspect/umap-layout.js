/** Points in a plane by UMAP (McInnes, Healy and Melville, 2018), the same for the same seed. */

/**
 * @typedef {{values: Float32Array, dimensions: number, neighbours: number, seed: number}} UmapQuestion
 *   `values` (samples, dimensions), of at least two samples
 */

/**
 * @param {typeof import("umap-js").UMAP} UMAP
 * @param {UmapQuestion} question
 * @param {(part: number) => void} [onProgress] is called with the part that is done, from 0 to 1
 * @returns {Float32Array} (samples, 2)
 */
export function layOut(UMAP, { values, dimensions, neighbours, seed }, onProgress) {
  const samples = values.length / dimensions;
  const size = largest(values);
  // The library adds the squares of distances, which are 0 or infinite for numbers of extreme sizes.
  const rows = Array.from({ length: samples }, (_, at) =>
    Array.from(values.subarray(at * dimensions, (at + 1) * dimensions), (value) => value / size),
  );
  // It counts a point among its own neighbours.
  const umap = new UMAP({
    nNeighbors: Math.min(neighbours, samples - 1),
    minDist: 0.1,
    random: randomNumbers(seed),
  });
  const epochs = umap.initializeFit(rows);
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    umap.step();
    onProgress?.((epoch + 1) / epochs);
  }
  return Float32Array.from(umap.getEmbedding().flat());
}

/** The largest absolute value; 1 if all are 0. @param {Float32Array} values */
const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;

/** Numbers from 0 to 1, by the generator Mulberry32. @param {number} seed */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
