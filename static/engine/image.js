/**
 * Images of Python's memory: an interpreter that has imported NumPy and playgrad already, made once
 * by make-image.mjs and restored in place of starting one (docs/decisions/008-starting-quickly.md).
 *
 * An image is the length of a header (uint32, little endian), the header as JSON, and one after the
 * other what Pyodide keeps of its own, the files, and the pages of memory that are not all zero.
 *
 * Memory holds numbers of compiled functions. They mean the same in another interpreter if it has
 * loaded the same libraries in the same order before Python begins: both sides use `install` for it.
 */

export const PAGE = 4096;
const LENGTH = 4;

/**
 * @typedef {[path: string, size: number][]} Sizes
 * @typedef {{state: number, files: Sizes, functions: number, memory: number,
 *            pages: [first: number, count: number][]}} Header
 *   sizes in bytes; `functions`: how many there are once the libraries are loaded
 * @typedef {{header: Header, state: Uint8Array, body: Promise<Uint8Array>}} Image
 * @typedef {any} Module the Emscripten module in which Pyodide runs
 */

/** The bytes of a stream as they are asked for. */
class Arrival {
  #reader;
  /** @type {Uint8Array} */
  #waiting = new Uint8Array(0);

  /** @param {ReadableStream<Uint8Array>} stream */
  constructor(stream) {
    this.#reader = stream.getReader();
  }

  /** The next `size` bytes. @param {number} size @returns {Promise<Uint8Array<ArrayBuffer>>} */
  async take(size) {
    const taken = new Uint8Array(size);
    for (let filled = 0; filled < size; ) {
      if (this.#waiting.length === 0) {
        const { done, value } = await this.#reader.read();
        if (done) throw new Error("the image of Python's memory ends too early");
        this.#waiting = value;
      }
      const part = this.#waiting.subarray(0, size - filled);
      taken.set(part, filled);
      filled += part.length;
      this.#waiting = this.#waiting.subarray(part.length);
    }
    return taken;
  }
}

/**
 * Begin to download an image.
 * @param {string} url
 * @returns {Promise<Image>} once its first parts are there
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
  body.catch(() => {}); // whoever restores the image awaits it and reports that
  return { header, state, body };
}

/**
 * Write files and load the libraries (.so) among them, before Python begins.
 * @param {Module} module
 * @param {Sizes} files
 * @param {Uint8Array} bytes of all files
 * @returns {Promise<number>} how many of the bytes were those of files
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
 * Let `prepare` do something with a module after its code is compiled and before Python begins.
 * @param {(settings: any) => Promise<Module>} create makes the module
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
 * Options for `loadPyodide` that restore an image in place of starting Python.
 * @param {(settings: any) => Promise<Module>} create Pyodide's own, from pyodide.asm.mjs
 * @param {Image} image
 */
export function restoring(create, { header, state, body }) {
  let restored = 0;
  const created = preparing(create, async (module) => {
    const bytes = await body;
    restored = await install(module, header.files, bytes);
    if (module.wasmTable.length !== header.functions) {
      throw new Error("this browser numbers Python's functions in another way than the image does");
    }
  });
  return {
    // Pyodide fills memory with what follows its state: nothing, because that is done here.
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
