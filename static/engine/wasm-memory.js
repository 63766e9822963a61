/**
 * Python's memory beyond two gigabytes.
 *
 * WebAssembly passes addresses to JavaScript as signed numbers: from 2^31 on they are negative.
 * Emscripten's functions make them unsigned again, and so do most of Pyodide's. The functions below
 * do not: they would read other memory, counted from the end, or fail with "offset is out of
 * bounds". `readingAllMemory` lets them see unsigned addresses. All bytes and texts that cross
 * between Python and JavaScript pass through them: `getBuffer`, `toJs`, `to_bytes`,
 * `to_memoryview`, `to_py`, arguments and results of calls.
 *
 * A view of memory ends when memory grows, which any call of Python may cause: hold none across one.
 */

/** Functions that Pyodide's Python calls, with the positions of arguments that are addresses. */
const ADDRESSES = {
  /** Texts of ASCII characters. */
  _python2js_ascii: [0],
  /** Buffers that `toJs` copies. */
  _python2js_buffer_inner: [0],
  /** Buffers that `getBuffer` views: their first item, their first byte and their end. */
  _pyproxy_get_buffer_result: [0, 1, 2],
  /** Shapes and strides. */
  array_to_js: [0],
  /** Copies from JavaScript's buffers to Python's, and back. */
  JsvBuffer_assignToPtr: [1],
  JsvBuffer_assignFromPtr: [1],
};

/**
 * @typedef {any} Module the Emscripten module in which Pyodide runs
 * @typedef {(settings: any) => Promise<Module>} Create creates the module
 */

/**
 * Let Pyodide read and write all of Python's memory.
 * @param {Create} create Pyodide's own, from pyodide.asm.mjs
 * @returns {Create}
 */
export function readingAllMemory(create) {
  return (settings) => {
    const { instantiateWasm } = settings;
    /** @param {{env: Record<string, Function>}} imports @param {Function} done */
    settings.instantiateWasm = (imports, done) => {
      for (const [name, positions] of Object.entries(ADDRESSES)) {
        imports.env[name] = unsigned(name, imports.env[name], positions);
      }
      return instantiateWasm(imports, done);
    };
    return create(settings);
  };
}

/**
 * @param {string} name
 * @param {Function | undefined} original
 * @param {number[]} positions of arguments to make unsigned
 */
function unsigned(name, original, positions) {
  if (!original) throw new Error(`this version of Pyodide has no ${name}: revise wasm-memory.js`);
  const changed = (/** @type {any[]} */ ...values) => {
    for (const position of positions) values[position] >>>= 0;
    return original(...values);
  };
  return Object.assign(changed, original); // its signature, which the linker reads
}
