/**
 * Makes an image of Python's memory (image.js): in Node, when playgrad's server starts
 * (make-image.mjs), or in a browser, where the server's would take too long to arrive
 * (image-worker.js; docs/decisions/066-a-page-makes-its-own-image.md).
 */

import { SCRIPT, PAGE, install, preparing } from "./image.js";

/** What makes an image as it is: these scripts, or the bundle that they are part of. */
export const SCRIPTS = [import.meta.url, SCRIPT];

/**
 * Modules that every page imports. The one whose functions only a page has is empty until
 * python-worker.js fills it.
 */
const IMPORTS = `
import platform, random, sys, sysconfig, traceback, types
sys.modules["playgrad_host"] = types.ModuleType("playgrad_host")
sys.modules["playgrad_host"].of_image = True
import numpy
import playgrad
import playgrad.io
from playgrad.page import controller
from playgrad.page.question import questions
from playgrad.page.warm_up import warm_up
forms = [question.request for question in questions().values()]
warm_up()
`;

/**
 * The address at which Python stores the number of its trampoline function. Pyodide compiles that
 * function if the engine supports WebAssembly garbage collection: browsers do, Node 20 does not.
 * @param {import("./image.js").Module} module
 */
function trampoline(module) {
  const offset = module.HEAP32[module.__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET / 4];
  return (module.__PyRuntime + offset) / 4;
}

/**
 * Runs of pages that are not all zero.
 * @param {Uint8Array} memory aligned to words
 * @returns {[first: number, count: number][]}
 */
function usedPages(memory) {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.length / 4);
  /** @type {[number, number][]} */
  const runs = [];
  for (let page = 0; page * PAGE < memory.length; page++) {
    const end = ((page + 1) * PAGE) / 4;
    let at = end - PAGE / 4;
    while (at < end && words[at] === 0) at++;
    if (at === end) continue;
    const last = runs.at(-1);
    if (last && last[0] + last[1] === page) last[1]++;
    else runs.push([page, 1]);
  }
  return runs;
}

/** @param {Uint8Array[]} parts @returns {Uint8Array<ArrayBuffer>} */
function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * Start Python, import the library, and return the image.
 * @param {{loadPyodide: (options: any) => Promise<any>, create: (settings: any) => Promise<any>}} library
 *   Pyodide's own modules
 * @param {{indexURL: string, stdLibURL: string}} places where Pyodide finds its files
 * @param {import("./image.js").Sizes} table of the files of NumPy and playgrad
 * @param {Uint8Array<ArrayBuffer>} bytes of these files
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {Error} the library cannot be imported, or loads a compiled extension late
 */
export async function makeImage({ loadPyodide, create }, places, table, bytes) {
  let functions = 0;
  let reserved = 0;
  const createPyodideModule = preparing(create, async (module) => {
    if (module.HEAP32[trampoline(module)] === 0) reserved = module.wasmTable.grow(1);
    await install(module, table, bytes.slice());
    functions = module.wasmTable.length;
  });
  const pyodide = await loadPyodide({ ...places, _makeSnapshot: true, createPyodideModule });
  const { LDSO } = pyodide._module;
  const loaded = Object.keys(LDSO.loadedLibsByName).length;
  pyodide.runPython(IMPORTS);
  if (Object.keys(LDSO.loadedLibsByName).length !== loaded)
    throw new Error("a library was loaded late");
  // Pyodide would take packages among the files for objects that it cannot serialize.
  for (const name of Object.keys(pyodide.loadedPackages)) delete pyodide.loadedPackages[name];
  if (reserved) pyodide._module.HEAP32[trampoline(pyodide._module)] = reserved;

  /** @type {Uint8Array} */
  const snapshot = pyodide.makeMemorySnapshot();
  const view = new DataView(snapshot.buffer, snapshot.byteOffset);
  const start = view.getUint32(4, true);
  const memory = snapshot.subarray(start);
  const pages = usedPages(memory);
  const header = { state: start, files: table, functions, memory: memory.length, pages };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, text.length, true);
  const used = pages.map(([page, count]) => memory.subarray(page * PAGE, (page + count) * PAGE));
  return joined([length, text, snapshot.subarray(0, start), bytes, ...used]);
}
