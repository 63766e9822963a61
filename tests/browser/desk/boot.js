/**
 * In the place of static/engine/python-boot.js: an interpreter on the desktop, with the part of
 * Pyodide's interface that the page's workers use. `interpreter.py` is its other end.
 */

import { interruptTaker } from "./control.js";
import { RingReader, createRing } from "./ring.js";

const CAPACITY = 1 << 20;

export async function bootPython(streams) {
  const received = createRing(CAPACITY);
  const worker = new Worker(new URL("./desk-link.js", import.meta.url), { type: "module" });
  await new Promise((resolve, reject) => {
    worker.onmessage = resolve;
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ ring: received });
  });
  return { pyodide: new Desk(worker, new RingReader(received), streams), isQuick: true };
}

/** There is nothing to fetch. */
export const beginDownloads = () => undefined;

/** A Python object, as Pyodide's proxies show it. */
class PythonObject {
  #value;

  constructor(value) {
    this.#value = value;
  }

  get(key) {
    return proxied(this.#value[key]);
  }

  getBuffer() {
    return { data: this.#value, release() {} };
  }

  toJs() {
    return this.#value;
  }

  destroy() {}
}

/** Numbers, texts, functions and what has come from JavaScript are not proxied. */
const proxied = (value) =>
  typeof value === "object" && !isShared(value) ? new PythonObject(value) : value;

const isShared = (value) =>
  value instanceof Uint8Array && value.buffer instanceof SharedArrayBuffer;

/** The sum of all words, weighted by their places. `interpreter.py` computes the same of files. */
function checksum({ buffer, byteOffset, length }) {
  const words = new Uint32Array(buffer, byteOffset, length / 4);
  let sum = 0;
  for (let at = 0; at < words.length; at++) sum = (sum + Math.imul(words[at], 2 * at + 1)) | 0;
  return sum >>> 0;
}

class Desk {
  #link;
  #received;
  /** What Python may call by name. */
  #modules;
  /** Functions, and bytes in shared memory, that Python knows by number. */
  #objects = [];

  constructor(link, received, streams) {
    this.#link = link;
    this.#received = received;
    this.#modules = {
      streams,
      desk: {
        read: (number) => this.#objects[number].slice(),
        checksum: (number) => checksum(this.#objects[number]),
      },
    };
  }

  registerJsModule(name, module) {
    this.#modules[name] = module;
  }

  setInterruptBuffer({ buffer }) {
    this.#modules.desk.take_interrupt = interruptTaker(buffer);
    this.#link.postMessage({ control: buffer });
  }

  toPy(value) {
    return value;
  }

  runPython(code, { globals: names } = {}) {
    return this.#call({ code, names });
  }

  /** Call Python, and serve its calls until it returns. */
  #call(message) {
    for (let next = message; ;) {
      const parts = [];
      const text = JSON.stringify(this.#encoded(next, parts));
      this.#link.postMessage({ text, parts });
      const frame = this.#received.wait();
      const answer = this.#decoded(JSON.parse(frame.text), { payload: frame.payload, at: 0 });
      if ("raised" in answer) throw new Error(answer.raised);
      if (!("call" in answer)) return proxied(answer.returned);
      next = this.#perform(answer);
    }
  }

  #perform({ call, arguments: values }) {
    const called =
      typeof call === "number"
        ? this.#objects[call]
        : call.split(".").reduce((found, part) => found[part], this.#modules);
    try {
      return { returned: called(...values.map((value) => proxied(value))) };
    } catch (error) {
      return { thrown: error.message };
    }
  }

  /** A value for JSON, in which undefined is Python's None. */
  #encoded(value, parts) {
    if (value === undefined) return null;
    if (typeof value === "function" || isShared(value)) {
      const number = this.#objects.push(value) - 1;
      return { $: [typeof value === "function" ? "function" : "shared", number, value.length] };
    }
    if (value instanceof Uint8Array) {
      parts.push(value);
      return { $: ["bytes", value.length] };
    }
    if (typeof value !== "object") return value;
    const each = (part) => this.#encoded(part, parts);
    if (Array.isArray(value)) return value.map(each);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, each(part)]));
  }

  #decoded(value, cursor) {
    if (value === null) return undefined;
    if (typeof value !== "object") return value;
    const each = (part) => this.#decoded(part, cursor);
    if (Array.isArray(value)) return value.map(each);
    if (!value.$) return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, each(v)]));
    const [kind, content] = value.$;
    switch (kind) {
      case "integer":
        return BigInt(content);
      case "float":
        return { nan: NaN, inf: Infinity, "-inf": -Infinity }[content];
      case "function":
        return (...values) => this.#call({ function: content, arguments: values });
      case "object":
        return this.#objects[content];
      default:
        cursor.at += content;
        return cursor.payload.slice(cursor.at - content, cursor.at);
    }
  }
}
