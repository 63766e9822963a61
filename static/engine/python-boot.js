/**
 * Starts Python with NumPy and playgrad: from the server's image of its memory, or step by step if
 * this browser cannot use the image. Downloads run in parallel where possible.
 */

import { pyodideURL } from "../vendor/versions.js";
import { openImage, restoring } from "./image.js";
import { readingAllMemory } from "./wasm-memory.js";

/** The server's folder of the runtime, its lock file and the NumPy wheel. */
const PYODIDE = new URL(pyodideURL, self.location.href).href;
const IMAGE = new URL("/image/python.bin", self.location.href).href;
const BUNDLE = new URL("/bundle/playgrad.zip", self.location.href).href;

/** Interpreters restored from one image would otherwise draw the same random numbers. */
const RESEED = "import random, numpy; random.seed(); numpy.random.seed()";

/** `input()` finds the end of the file: the page has no input. */
const stdin = () => null;

/**
 * @typedef {{stdout: (line: string) => void, stderr: (line: string) => void}} Streams
 * @typedef {any} Pyodide
 */

/**
 * @param {Streams} streams
 * @returns {Promise<Pyodide>} in which `import playgrad` works
 */
export async function bootPython(streams) {
  try {
    return await restore(streams);
  } catch (error) {
    console.info(`Python starts without an image of its memory: ${error}`);
    return await startAfresh(streams);
  }
}

/** @param {Streams} streams */
async function restore(streams) {
  const [image, { loadPyodide }, { default: create }] = await Promise.all([
    openImage(IMAGE),
    import(`${PYODIDE}pyodide.mjs`),
    import(`${PYODIDE}pyodide.asm.mjs`),
  ]);
  const options = { indexURL: PYODIDE, stdin, ...streams, ...restoring(readingAllMemory(create), image) };
  const pyodide = await loadPyodide(options);
  pyodide.runPython(RESEED);
  return pyodide;
}

/** @param {Streams} streams */
async function startAfresh(streams) {
  const [{ loadPyodide }, { default: create }] = await Promise.all([
    import(`${PYODIDE}pyodide.mjs`),
    import(`${PYODIDE}pyodide.asm.mjs`),
  ]);
  const createPyodideModule = readingAllMemory(create);
  const [pyodide, bundle] = await Promise.all([
    loadPyodide({ indexURL: PYODIDE, packages: ["numpy"], stdin, ...streams, createPyodideModule }),
    download(BUNDLE),
  ]);
  const sitePackages = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
  pyodide.unpackArchive(bundle, "zip", { extractDir: sitePackages });
  return pyodide;
}

/** @param {string} url @returns {Promise<ArrayBuffer>} */
async function download(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return await response.arrayBuffer();
}
