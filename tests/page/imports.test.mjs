import assert from "node:assert/strict";
import test from "node:test";
import { LoadError } from "../../static/engine/downloads.js";
import { importModule } from "../../static/engine/imports.js";

globalThis.self ??= /** @type {any} */ ({ location: new URL("https://school.example/") });
const MODULE = "https://school.example/static/vendor/pyodide/pyodide.mjs";

/** A network that fails imports of the first few names. */
function network(failures) {
  /** @type {string[]} */
  const log = [];
  const download = async (url) => void log.push(`download ${url.slice(MODULE.length)}`);
  const importing = async (url) => {
    log.push(`import ${url.slice(MODULE.length)}`);
    if (failures-- > 0) throw new TypeError(`Failed to fetch dynamically imported module: ${url}`);
    return { name: url };
  };
  return { log, download, importing };
}

test("a module is imported once it has arrived", async () => {
  const { log, download, importing } = network(0);
  assert.deepEqual(await importModule(MODULE, download, importing), { name: MODULE });
  assert.deepEqual(log, ["download ", "import "]);
});

test("an import that fails waits for the next download, which waits for the network", async () => {
  const { log, download, importing } = network(1);
  let isOnline = () => {};
  const waiting = async (url) => {
    await download(url);
    if (log.length > 1) await new Promise((resolve) => (isOnline = () => resolve(undefined)));
  };
  const imported = importModule(MODULE, waiting, importing);
  await new Promise(setImmediate);
  assert.deepEqual(log, ["download ", "import ", "download "]);
  isOnline();
  assert.deepEqual(await imported, { name: `${MODULE}#2` });
});

test("every try asks for the same file, which is all that the service worker keeps", async () => {
  const { log, download, importing } = network(2);
  await importModule(MODULE, download, importing);
  const files = log.map((line) => new URL(line.split(" ")[1], MODULE));
  assert.equal(files.length, 6);
  assert.ok(
    files.every(({ href }) => href.replace(/#.*/, "") === MODULE),
    log.join(),
  );
});

test("a module that fails when it is run is not taken for one that does not arrive", async () => {
  for (const code of ["const;", "null.x", "throw new RangeError('too deep')"]) {
    let downloads = 0;
    const imported = importModule(
      `data:text/javascript,${code}`,
      async () => void (downloads += 1),
    );
    await assert.rejects(imported, (error) => {
      assert.ok(!(error instanceof LoadError));
      assert.match(error.message, /(Syntax|Type|Range)Error: ./);
      return true;
    });
    assert.equal(downloads, 1);
  }
});

test("a module that is never imported is an error in words, which can be said in any language", async () => {
  const { log, download, importing } = network(Infinity);
  await assert.rejects(importModule(MODULE, download, importing), (error) => {
    assert.ok(error instanceof LoadError);
    assert.match(error.message, /^pyodide\.mjs: (this computer is offline|the server cannot be)/);
    assert.match(error.sentence.code, /offline|unreachable/);
    return true;
  });
  assert.equal(log.length, 6);
});
