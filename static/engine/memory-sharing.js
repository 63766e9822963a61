/**
 * Python on memory that other workers see, for threads that help with its steps.
 *
 * Pyodide's code works on memory of its own worker. A flag says so: in the section of the main
 * module that defines the memory, and in the imports of libraries. With the other value of the flag
 * the same instructions work on shared memory. Some functions of browsers refuse shared memory:
 * those that Pyodide calls with views of it get copies.
 */

const IMPORTS = 2;
const MEMORIES = 5;
/** Kinds of imports; the last one is a tag. */
const [FUNCTION, TABLE, MEMORY, GLOBAL] = [0, 1, 2, 3];
const HAS_MAXIMUM = 1;
const SHARED = 2;
/** Pages: a shared memory has a maximum, which an import must not be below. */
const MOST_PAGES = 1 << 16;
/** Pages of Python's memory at first. */
const FIRST_PAGES = 480;
/** The modules from which code imports Python's memory: Pyodide's, and playgrad's own. */
const HOSTS = new Set(["env", "host"]);

/** Whether this worker may have memory that other workers see, and there is a core for one. */
export function canShareMemory() {
  const { crossOriginIsolated, WebAssembly } = globalThis; // a missing one is named elsewhere
  if (!crossOriginIsolated || !WebAssembly || !(navigator.hardwareConcurrency > 1)) return false;
  try {
    const limits = { initial: FIRST_PAGES, maximum: MOST_PAGES, shared: true };
    return new WebAssembly.Memory(limits).buffer instanceof SharedArrayBuffer;
  } catch (error) {
    if (error instanceof RangeError) return false; // there is no room for so many addresses
    throw error;
  }
}

/**
 * Return a module on shared memory instead of memory that it defines, or imports from Python.
 * @param {Uint8Array} module
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function onSharedMemory(module) {
  const reader = new Reader(module, 8);
  while (reader.at < module.length) {
    const start = reader.at;
    const id = reader.byte();
    const size = reader.number();
    const content = reader.at;
    reader.at += size;
    if ((id !== IMPORTS && id !== MEMORIES) || reader.at > module.length) continue;
    const section = module.subarray(content, reader.at);
    const limits = id === IMPORTS ? limitsOfImport(section) : limitsOfDefinition(section);
    if (!limits) continue;
    const changed = joined([
      section.subarray(0, limits.start),
      [HAS_MAXIMUM | SHARED, ...encoded(limits.least), ...encoded(limits.most)],
      section.subarray(limits.end),
    ]);
    return joined([
      module.subarray(0, start),
      [id, ...encoded(changed.length)],
      changed,
      module.subarray(reader.at),
    ]);
  }
  return joined([module]);
}

/** @param {Uint8Array} section */
function limitsOfDefinition(section) {
  const reader = new Reader(section, 0);
  return reader.number() ? reader.limits() : undefined;
}

/** @param {Uint8Array} section */
function limitsOfImport(section) {
  const reader = new Reader(section, 0);
  for (let left = reader.number(); left > 0 && reader.at < section.length; left--) {
    const host = reader.name();
    reader.name();
    const kind = reader.byte();
    if (kind === MEMORY) {
      const limits = reader.limits();
      if (HOSTS.has(host)) return limits;
    } else if (kind === FUNCTION) reader.number();
    else if (kind === TABLE) {
      reader.byte();
      reader.limits();
    } else if (kind === GLOBAL) reader.at += 2;
    else {
      reader.byte();
      reader.number();
    }
  }
  return undefined;
}

class Reader {
  #bytes;

  /** @param {Uint8Array} bytes @param {number} at */
  constructor(bytes, at) {
    this.#bytes = bytes;
    this.at = at;
  }

  byte() {
    return this.#bytes[this.at++];
  }

  number() {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (!(byte & 0x80)) return value; // also at the end of what is damaged
    }
  }

  name() {
    const length = this.number();
    return String.fromCharCode(...this.#bytes.subarray(this.at, (this.at += length)));
  }

  limits() {
    const start = this.at;
    const flags = this.byte();
    const least = this.number();
    const most = flags & HAS_MAXIMUM ? this.number() : MOST_PAGES;
    return { start, least, most, end: this.at };
  }
}

/** @param {number} value in LEB128 */
function encoded(value) {
  const bytes = [];
  for (; value > 0x7f; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return [...bytes, value];
}

/** @param {(Uint8Array | number[])[]} parts */
function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Have this worker load libraries onto shared memory from now on, and take views of it. */
export function prepareForSharedMemory() {
  const { compile, instantiate, Module } = WebAssembly;
  WebAssembly.compile = (code) => compile(changed(code));
  // `instantiate` has two forms, which types cannot tell apart here.
  /** @type {any} */ (WebAssembly).instantiate = (
    /** @type {any} */ code,
    /** @type {WebAssembly.Imports} */ imports,
  ) => instantiate(code instanceof Module ? code : changed(code), imports);
  WebAssembly.Module = new Proxy(Module, {
    construct: (target, [code], self) => Reflect.construct(target, [changed(code)], self),
  });
  const { decode } = TextDecoder.prototype;
  TextDecoder.prototype.decode = function (bytes, options) {
    return decode.call(this, unshared(bytes), options);
  };
  const { getRandomValues } = Crypto.prototype;
  Crypto.prototype.getRandomValues = function (values) {
    const own = unshared(values);
    getRandomValues.call(this, own);
    if (own !== values) /** @type {any} */ (values).set(own);
    return values;
  };
}

/** @param {BufferSource} code */
function changed(code) {
  const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(code) ? code : new DataView(code);
  return onSharedMemory(new Uint8Array(buffer, byteOffset, byteLength));
}

/** A view of memory that is not shared, with the same content. @param {any} view */
function unshared(view) {
  const isShared = ArrayBuffer.isView(view) && view.buffer instanceof SharedArrayBuffer;
  return isShared ? /** @type {any} */ (view).slice() : view;
}
