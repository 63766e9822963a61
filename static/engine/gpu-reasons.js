/** Why there is no GPU, in English: for Python, and for a page in English. */

export const GPU_REASONS = {
  noWebGpu: () => "this browser has no WebGPU, or it is disabled",
  noAdapter: () =>
    "this browser has WebGPU but offers no adapter. If it had one before, its GPU process may have crashed too " +
    "often: close all windows of the browser, and open it again",
  notFound: (/** @type {string} */ detail) => `the browser was asked to look for a GPU: ${detail}`,
  notOpened: (/** @type {string} */ detail) => `the browser was asked to open the GPU: ${detail}`,
};

/** @typedef {{kind: keyof typeof GPU_REASONS, detail: string}} GpuReason `detail`: the browser's words, "" for none */
