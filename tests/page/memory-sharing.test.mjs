import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { canShareMemory, onSharedMemory } from "../../static/engine/memory-sharing.js";

const HEAD = [0, 97, 115, 109, 1, 0, 0, 0];
/** The length of a name, and the name. @param {string} text */
const name = (text) => [text.length, ...new TextEncoder().encode(text)];
/** @param {number} id @param {number[]} content */
const section = (id, content) => [id, content.length, ...content];
const TYPE = section(1, [1, 0x60, 0, 0]);

/** A module that imports all kinds of things, and then memory. @param {string} host @param {number[]} limits */
const library = (host, limits) =>
  Uint8Array.from([
    ...HEAD,
    ...TYPE,
    ...section(2, [
      5,
      ...[...name("env"), ...name("f"), 0, 0],
      ...[...name("env"), ...name("table"), 1, 0x70, 1, 1, 2],
      ...[...name("env"), ...name("global"), 3, 0x7f, 1],
      ...[...name("env"), ...name("tag"), 4, 0, 0],
      ...[...name(host), ...name("memory"), 2, ...limits],
    ]),
  ]);

const shared = new WebAssembly.Memory({ initial: 3, maximum: 1 << 16, shared: true });

/** Imports of `library` with a memory. @param {string} host @param {WebAssembly.Memory} memory */
const imports = (host, memory) => ({
  env: {
    f() {},
    table: new WebAssembly.Table({ element: "anyfunc", initial: 1, maximum: 2 }),
    global: new WebAssembly.Global({ value: "i32", mutable: true }),
    tag: new /** @type {any} */ (WebAssembly).Tag({ parameters: [] }),
    memory,
  },
  ...(host === "env" ? {} : { [host]: { memory } }),
});

test("libraries take shared memory in place of other memory", () => {
  for (const host of ["env", "host"])
    for (const limits of [
      [0, 1],
      [1, 2, 0x80, 0x80, 4],
    ]) {
      const module = library(host, limits);
      assert.throws(
        () => new WebAssembly.Instance(new WebAssembly.Module(module), imports(host, shared)),
      );
      const changed = new WebAssembly.Module(onSharedMemory(module));
      assert.ok(new WebAssembly.Instance(changed, imports(host, shared)));
    }
});

test("a module that defines its memory exports a shared one", () => {
  const memory = section(5, [1, 1, 2, 0x80, 0x80, 4]);
  const module = Uint8Array.from([...HEAD, ...memory, ...section(7, [1, ...name("m"), 2, 0])]);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(onSharedMemory(module)));
  const { buffer } = /** @type {WebAssembly.Memory} */ (exports.m);
  assert.ok(buffer instanceof SharedArrayBuffer);
  assert.equal(buffer.byteLength, 2 << 16);
});

test("other modules stay as they are", () => {
  for (const module of [library("mine", [0, 1]), Uint8Array.from([...HEAD, ...TYPE])])
    assert.deepEqual(onSharedMemory(module), module);
});

test("what is not a whole module stays for the compiler to refuse", () => {
  const module = library("env", [1, 2, 0x80, 0x80, 4]);
  for (let end = 0; end < module.length; end++) {
    const cut = module.slice(0, end);
    assert.equal(WebAssembly.validate(onSharedMemory(cut)), WebAssembly.validate(cut));
  }
  const damaged = library("env", [0, 1]);
  damaged.fill(0xff, HEAD.length + TYPE.length + 2);
  assert.ok(!WebAssembly.validate(onSharedMemory(damaged)));
});

const { Memory } = WebAssembly;
afterEach(() => {
  WebAssembly.Memory = Memory;
  Reflect.deleteProperty(globalThis, "crossOriginIsolated");
  Reflect.deleteProperty(globalThis, "navigator");
});

/** @param {boolean} isolated @param {number} cores */
function inBrowser(isolated, cores) {
  Object.assign(globalThis, { crossOriginIsolated: isolated });
  const value = { hardwareConcurrency: cores };
  Object.defineProperty(globalThis, "navigator", { value, configurable: true });
}

test("memory is shared only where that is allowed and of use", () => {
  inBrowser(true, 4);
  assert.ok(canShareMemory());
  inBrowser(false, 4);
  assert.ok(!canShareMemory());
  inBrowser(true, 1);
  assert.ok(!canShareMemory());
  inBrowser(true, 4);
  WebAssembly.Memory = /** @type {any} */ (
    class {
      constructor() {
        throw new RangeError("could not allocate memory");
      }
    }
  );
  assert.ok(!canShareMemory());
});
