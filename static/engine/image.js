/**
 * Images of Python's memory: an interpreter that has already imported NumPy and playgrad, saved once
 * by make-image.mjs and restored instead of starting one (docs/decisions/008-starting-quickly.md).
 *
 * An image consists of the length of a header (uint32, little endian), the header as JSON, Pyodide's
 * own state, the files, and the pages of memory that are not all zero.
 *
 * Memory contains numbers of compiled functions. They are valid in another interpreter if it loaded
 * the same libraries in the same order before Python starts: both sides use `install` for that.
 */

export const PAGE = 4096;
const LENGTH = 4;

/**
 * @typedef {[path: string, size: number][]} Sizes
 * @typedef {{state: number, files: Sizes, functions: number, memory: number,
 *            pages: [first: number, count: number][]}} Header
 *   sizes in bytes; `functions`: the number of functions after the libraries are loaded
 * @typedef {{header: Header, state: Uint8Array, body: Promise<Uint8Array>}} Image
 * @typedef {any} Module the Emscripten module in which Pyodide runs
 */

/** A stream read in portions of given sizes. */
class Arrival {
  #reader;
  /** @type {Uint8Array} */
  #waiting = new Uint8Array(0);

  /** @param {ReadableStream<Uint8Array>} stream */
  constructor(stream) {
    this.#reader = stream.getReader();
  }

  /** Read the next `size` bytes. @param {number} size @returns {Promise<Uint8Array<ArrayBuffer>>} */
  async take(size) {
    const bytes = new Uint8Array(size);
    for (let filled = 0; filled < size; ) {
      if (this.#waiting.length === 0) {
        const { done, value } = await this.#reader.read();
        if (done) throw new Error("the image of Python's memory ends too early");
        this.#waiting = value;
      }
      const part = this.#waiting.subarray(0, size - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#waiting = this.#waiting.subarray(part.length);
    }
    return bytes;
  }
}

/**
 * Begin to download an image.
 * @param {string} url
 * @returns {Promise<Image>} as soon as its first parts have arrived
 */
export async function openImage(url) {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`${url}: ${await response.text()}`);
  const arrival = new Arrival(response.body);
  const [length] = new Uint32Array((await arrival.take(LENGTH)).buffer);
  /** @type {Header} */
  const header = JSON.parse(new TextDecoder().decode(await arrival.take(length)));
  const state = await arrival.take(header.state);
  const rest = [...header.files, ...header.pages.map(([, count]) => ["", count * PAGE])];
  const body = arrival.take(rest.reduce((sum, [, size]) => sum + Number(size), 0));
  body.catch(() => {}); // reported where the image is restored
  return { header, state, body };
}

/**
 * Write files and load the libraries (.so) among them, before Python starts.
 * @param {Module} module
 * @param {Sizes} files
 * @param {Uint8Array} bytes of all files
 * @returns {Promise<number>} the number of bytes used
 */
export async function install(module, files, bytes) {
  const folders = new Set();
  const libraries = new Map();
  let at = 0;
  for (const [path, size] of files) {
    const content = bytes.subarray(at, (at += size));
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!folders.has(folder)) module.FS.mkdirTree(folder);
    folders.add(folder);
    module.FS.writeFile(path, content, { canOwn: true });
    if (path.endsWith(".so")) libraries.set(path, content);
  }
  const flags = { loadAsync: true, nodelete: true };
  for (const [path, content] of libraries) {
    const exports = await module.loadWebAssemblyModule(content, flags, path, {});
    module.newDSO(path, undefined, exports).global = false;
  }
  return at;
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
 */
export function restoring(create, { header, state, body }) {
  let restored = 0;
  const created = preparing(create, async (module) => {
    const bytes = await body;
    restored = await install(module, header.files, bytes);
    if (module.wasmTable.length !== header.functions) {
      throw new Error("this browser numbers Python's functions differently from the image");
    }
  });
  return {
    // Pyodide copies what follows its state into memory: nothing, since `fill` does that below.
    _loadSnapshot: state,
    /** @param {any} settings */
    async createPyodideModule(settings) {
      const module = await created(settings);
      fill(module, header, (await body).subarray(restored));
      return module;
    },
  };
}

/** @param {Module} module @param {Header} header @param {Uint8Array} bytes of all pages */
function fill(module, { memory, pages }, bytes) {
  if (module.HEAPU8.length < memory) module.growMemory(memory);
  module.HEAPU8.fill(0);
  let at = 0;
  for (const [first, count] of pages) {
    module.HEAPU8.set(bytes.subarray(at, (at += count * PAGE)), first * PAGE);
  }
}
