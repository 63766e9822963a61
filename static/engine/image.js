/**
 * Images of Python's memory: an interpreter that has already imported NumPy and playgrad, saved once
 * by image-making.js and restored instead of starting one (docs/decisions/008-starting-quickly.md).
 *
 * An image consists of the length of a header (uint32, little endian), the header as JSON, Pyodide's
 * own state, the files, and the pages of memory that are not all zero.
 *
 * Memory contains numbers of compiled functions. They are valid in another interpreter if it loaded
 * the same libraries in the same order before Python starts: both sides use `install` for that.
 */

import { Gathered, LoadError, amountOf, check, open } from "./downloads.js";

/** @import { Amount } from "./downloads.js" */

/** This script, or the bundle that it is part of. */
export const SCRIPT = import.meta.url;
export const PAGE = 4096;
const LENGTH = 4;

/**
 * @typedef {[path: string, size: number][]} Sizes
 * @typedef {{state: number, files: Sizes, functions: number, memory: number,
 *            pages: [first: number, count: number][]}} Header
 *   sizes in bytes; `functions`: the number of functions after the libraries are loaded
 * @typedef {{header: Header, state: Uint8Array, body: Promise<Uint8Array>, whole?: Promise<Uint8Array>}} Image
 *   `whole` rejects if it is damaged
 * @typedef {Record<string, WebAssembly.Module>} Libraries compiled, by path
 * @typedef {any} Module the Emscripten module in which Pyodide runs
 */

/**
 * Begin to download an image.
 * @param {string} url
 * @param {RequestCache} cache
 * @param {(amount: Amount) => void} [progress]
 * @param {AbortSignal} [signal] ends the download
 * @param {string} [accept] a type that is welcome beside any other
 * @returns {Promise<Image & {whole: Promise<Uint8Array>}>} as soon as its first parts have arrived;
 *   `whole`: the file; rejects if it is not the one that the server sent
 * @throws {LoadError}
 */
export async function openImage(url, cache, progress = () => {}, signal, accept) {
  const arriving = await open(url, { cache, signal, accept });
  const { portions, total } = arriving;
  const gathered = new Gathered(total);

  const image = await read(async (size) => {
    while (gathered.size < size) {
      const { done, value } = await portions.next();
      if (done)
        throw new LoadError("the image of Python's memory ends too early", { isDamaged: true });
      gathered.add(value);
      progress(amountOf(arriving, gathered.size));
    }
    return gathered.bytes;
  });
  const whole = image.body.then(async () => {
    await check(gathered.bytes, arriving);
    return gathered.bytes;
  });
  // Both are reported where the image is restored.
  image.body.catch(() => {});
  whole.catch(() => {});
  return { ...image, whole };
}

/** @param {Uint8Array} bytes of the file, all there @returns {Promise<Image>} */
export const imageIn = (bytes) => read(async () => bytes);

/**
 * @param {(size: number) => Promise<Uint8Array>} until waits for the first `size` bytes
 * @returns {Promise<Image>}
 */
async function read(until) {
  const start = LENGTH + new DataView((await until(LENGTH)).buffer).getUint32(0, true);
  const header = parse((await until(start)).slice(LENGTH, start));
  const end = start + header.state;
  const state = (await until(end)).slice(start, end); // aligned, as Pyodide expects
  const rest = [...header.files, ...header.pages.map(([, count]) => ["", count * PAGE])];
  const size = rest.reduce((sum, [, each]) => sum + Number(each), end);
  return { header, state, body: until(size).then((bytes) => bytes.subarray(end)) };
}

/** @param {Uint8Array} bytes @returns {Header} */
function parse(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new LoadError("the image of Python's memory has a damaged header", { isDamaged: true });
  }
}

/**
 * Write files and load the libraries (.so) among them, before Python starts.
 * @param {Module} module
 * @param {Sizes} files
 * @param {Uint8Array<ArrayBuffer>} bytes of all files, which become the interpreter's own
 * @param {Libraries} [compiled] by another interpreter
 * @returns {Promise<Libraries>}
 */
export async function install(module, files, bytes, compiled = {}) {
  const folders = new Set();
  /** @type {[string, Promise<WebAssembly.Module>][]} */
  const libraries = [];
  let at = 0;
  for (const [path, size] of files) {
    const content = bytes.subarray(at, (at += size));
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!folders.has(folder)) module.FS.mkdirTree(folder);
    folders.add(folder);
    module.FS.writeFile(path, content, { canOwn: true });
    if (path.endsWith(".so")) {
      libraries.push([path, Promise.resolve(compiled[path] ?? WebAssembly.compile(content))]);
    }
  }
  const flags = { loadAsync: true, nodelete: true };
  /** @type {Libraries} */
  const made = {};
  for (const [path, library] of libraries) {
    made[path] = await library;
    const exports = await module.loadWebAssemblyModule(made[path], flags, path, {});
    module.newDSO(path, undefined, exports).global = false;
  }
  return made;
}

/**
 * Let `prepare` change a module after its code is compiled and before Python starts.
 * @param {(settings: any) => Promise<Module>} create creates the module
 * @param {(module: Module) => Promise<void>} prepare
 * @returns {(settings: any) => Promise<Module>}
 */
export function preparing(create, prepare) {
  return async (settings) => {
    const prepared = new Promise((resolve, reject) => {
      settings.preRun.push((/** @type {Module} */ module) => {
        module.addRunDependency("image");
        prepare(module)
          .then(() => module.removeRunDependency("image"))
          .then(resolve, reject);
      });
    });
    const [module] = await Promise.all([create(settings), prepared]);
    return module;
  };
}

/**
 * Options for `loadPyodide` that restore an image instead of starting Python.
 * @param {(settings: any) => Promise<Module>} create Pyodide's own, from pyodide.asm.mjs
 * @param {Image} image
 * @param {(module: Module, files: Uint8Array) => Promise<unknown>} installed installs the files
 */
export function restoring(create, { header, state, body, whole }, installed) {
  const size = header.files.reduce((sum, [, each]) => sum + each, 0);
  const created = preparing(create, async (module) => {
    await installed(module, (await body).subarray(0, size));
    if (module.wasmTable.length !== header.functions) {
      throw new Error("this browser numbers Python's functions differently from the image");
    }
  });
  return {
    // Pyodide copies the bytes after its state into memory: none, since `fill` does that below.
    _loadSnapshot: state,
    /** @param {any} settings */
    async createPyodideModule(settings) {
      const module = await created(settings);
      await whole; // what is damaged does not run
      fill(module, header, (await body).subarray(size));
      return module;
    },
  };
}

/** @param {Module} module @param {Header} header @param {Uint8Array} bytes of all pages */
function fill(module, { memory, pages }, bytes) {
  module.HEAPU8.fill(0); // memory that is added is empty, and takes its time when it is first touched
  if (module.HEAPU8.length < memory) module.growMemory(memory);
  let at = 0;
  for (const [first, count] of pages) {
    module.HEAPU8.set(bytes.subarray(at, (at += count * PAGE)), first * PAGE);
  }
}
