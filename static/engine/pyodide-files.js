/** Pyodide's files on the server, and how Pyodide gets those that were downloaded here. */

import { pyodideURL } from "../vendor/versions.js";
import { importModule } from "./imports.js";
import { urlOf } from "./root.js";

/**
 * @typedef {any} Pyodide
 * @typedef {Map<string, Promise<Uint8Array<ArrayBuffer>>>} Files by URL
 * @typedef {{loadPyodide: (options: any) => Promise<Pyodide>, create: (settings: any) => Promise<any>}} Library
 *   Pyodide's own modules
 */

/** The folder of the runtime, its lock file and the NumPy wheel. */
export const PYODIDE = urlOf(pyodideURL);
export const BUNDLE = urlOf("/bundle/playgrad.zip");
/** Python's folder of packages. */
export const SITE = "/lib/python3.14/site-packages";

/** Files that Pyodide fetches by itself. */
export const RUNTIME = ["pyodide.asm.wasm", "python_stdlib_at_once.zip", "pyodide-lock.json"].map(
  (name) => PYODIDE + name,
);
export const [CODE, STANDARD_LIBRARY, LOCK] = RUNTIME;
/** Where Pyodide looks for its files. */
export const PLACES = { indexURL: PYODIDE, stdLibURL: STANDARD_LIBRARY };

/** @param {(url: string) => Promise<unknown>} download @returns {Promise<Library>} */
export async function importPyodide(download) {
  const names = ["pyodide.mjs", "pyodide.asm.mjs"];
  const [{ loadPyodide }, { default: create }] = await Promise.all(
    names.map((name) => importModule(PYODIDE + name, download)),
  );
  return { loadPyodide, create };
}

/** The URL of the NumPy wheel. @param {Uint8Array} lock the lock file */
export function wheelIn(lock) {
  return PYODIDE + JSON.parse(new TextDecoder().decode(lock)).packages.numpy.file_name;
}

/**
 * Let Pyodide have files that are downloaded here, and code that is compiled. It fetches them by
 * itself, but gives up, or waits for ever, when one of them fails, and it keeps damaged files.
 * @param {() => Promise<Pyodide>} load
 * @param {Files} files
 * @param {(code: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>} [change] changes Python's code before it is compiled
 * @param {WebAssembly.Module} [compiled] Python's code
 */
export async function loaded(load, files, change = (code) => code, compiled) {
  const { fetch } = self;
  const { instantiateStreaming } = WebAssembly;
  let code = compiled;
  self.fetch = async (input, options) => {
    const url = new URL(String(input), self.location.href).href;
    if (url === CODE && compiled) return new Response();
    const content = files.get(url);
    if (!content) return await fetch(input, options);
    const type = url.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    const bytes = await content;
    const body = url === CODE ? change(bytes) : bytes;
    return new Response(body, { headers: { "Content-Type": type } });
  };
  WebAssembly.instantiateStreaming = async (source, imports) => {
    code ??= await WebAssembly.compileStreaming(source);
    return { module: code, instance: await WebAssembly.instantiate(code, imports) };
  };
  try {
    const [pyodide] = await Promise.all([load(), ...files.values()]);
    return { pyodide, code: /** @type {WebAssembly.Module} */ (code) };
  } finally {
    self.fetch = fetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}
