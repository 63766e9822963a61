/**
 * Creates an image of Python's memory (image.js) in Node: `node make-image.mjs <folder of Pyodide>`.
 *
 * Reads files for Python from standard input (the length of a table as uint32, the table of
 * [path, size] as JSON, the bytes of the files) and writes the image to standard output.
 */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { PAGE, install, preparing } from "./image.js";

/** Modules that every page imports and that do not need the page's host module. */
const IMPORTS = `
import platform, random, sysconfig, traceback
import numpy
import playgrad
import playgrad.io
from playgrad.page import faults, graph_view, idle_tuner, lab, memory_reserve, output, restored_model
from playgrad.page.question import questions
from playgrad.page.warm_up import warm_up
forms = [question.request for question in questions().values()]
warm_up()
`;

/** @param {Uint8Array} input */
function filesOf(input) {
  const length = new DataView(input.buffer, input.byteOffset).getUint32(0, true);
  const table = JSON.parse(new TextDecoder().decode(input.subarray(4, 4 + length)));
  return { table, bytes: input.subarray(4 + length) };
}

/**
 * The address at which Python stores the number of its trampoline function. Pyodide compiles that
 * function if the engine supports WebAssembly garbage collection: browsers do, Node 20 does not.
 * @param {import("./image.js").Module} module
 */
function trampoline(module) {
  const offset = module.HEAP32[module.__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET / 4];
  return (module.__PyRuntime + offset) / 4;
}

/** Runs of pages that are not all zero. @param {Buffer} memory @returns {[number, number][]} */
function usedPages(memory) {
  const zero = Buffer.alloc(PAGE);
  /** @type {[number, number][]} */
  const runs = [];
  for (let page = 0; page * PAGE < memory.length; page++) {
    if (zero.equals(memory.subarray(page * PAGE, (page + 1) * PAGE))) continue;
    const last = runs.at(-1);
    if (last && last[0] + last[1] === page) last[1]++;
    else runs.push([page, 1]);
  }
  return runs;
}

/** @param {string} folder @param {Uint8Array} input */
async function make(folder, input) {
  const { table, bytes } = filesOf(input);
  const { loadPyodide } = await import(`${pathToFileURL(folder)}/pyodide.mjs`);
  const { default: create } = await import(`${pathToFileURL(folder)}/pyodide.asm.mjs`);
  let functions = 0;
  let reserved = 0;
  const createPyodideModule = preparing(create, async (module) => {
    if (module.HEAP32[trampoline(module)] === 0) reserved = module.wasmTable.grow(1);
    await install(module, table, bytes);
    functions = module.wasmTable.length;
  });
  const pyodide = await loadPyodide({
    indexURL: folder,
    stdLibURL: `${folder}/python_stdlib_at_once.zip`,
    _makeSnapshot: true,
    createPyodideModule,
  });
  const { LDSO } = pyodide._module;
  const loaded = Object.keys(LDSO.loadedLibsByName).length;
  pyodide.runPython(IMPORTS);
  if (Object.keys(LDSO.loadedLibsByName).length !== loaded)
    throw new Error("a library was loaded late");
  // Pyodide would take packages among the files for objects that it cannot serialize.
  for (const name of Object.keys(pyodide.loadedPackages)) delete pyodide.loadedPackages[name];
  if (reserved) pyodide._module.HEAP32[trampoline(pyodide._module)] = reserved;

  const snapshot = Buffer.from(pyodide.makeMemorySnapshot().buffer);
  const start = snapshot.readUInt32LE(4);
  const memory = snapshot.subarray(start);
  const pages = usedPages(memory);
  const header = { state: start, files: table, functions, memory: memory.length, pages };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const used = pages.map(([page, count]) => memory.subarray(page * PAGE, (page + count) * PAGE));
  return Buffer.concat([length, text, snapshot.subarray(0, start), bytes, ...used]);
}

try {
  const image = await make(process.argv[2], readFileSync(0));
  process.stdout.write(image, () => process.exit(0)); // Pyodide would keep Node alive
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
