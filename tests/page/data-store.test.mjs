/** What the page says while a program waits for a data set, with a server that sends it slowly. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { STATE } from "../../static/engine/data-files.js";
import { urlOf } from "../../static/engine/root.js";
import { en } from "../../static/js/messages/en.js";

const PARTS = ["train-images", "train-labels"];
const SIZE = 3_000_000;

/** Responses that wait for their second half, by path. @type {Map<string, () => void>} */
const held = new Map();
const server = createServer(({ url }, response) => {
  response.writeHead(200, { "Unencoded-Length": String(SIZE) });
  response.write(new Uint8Array(SIZE / 2));
  held.set(url, () => response.end(new Uint8Array(SIZE / 2)));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { fetch } = globalThis;
// A path of the page is one of its server.
globalThis.fetch = (address, options) => {
  const path = String(address).slice(urlOf("/").length - 1);
  return fetch(`http://127.0.0.1:${server.address().port}${path}`, options);
};
const { DataStore } = await import("../../static/engine/data-store.js");

/** @param {() => unknown} isSo */
async function until(isSo) {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const WORKER = {};

test("workers that ask for the same file at the same time all get it", async () => {
  const store = new DataStore({
    arrived: () => {},
    problem: () => {},
    yours: () => Promise.resolve(new Uint8Array([1, 2, 3, 4])),
  });
  const path = "/data/yours/a.csv";
  const asked = [{}, {}, {}].map((worker) => ({ worker, answer: new SharedArrayBuffer(8) }));
  const all = (/** @type {SharedArrayBuffer[]} */ into) =>
    Promise.all(
      asked.map(({ worker, answer }, at) =>
        store.serve({ kind: "data_file", path, answer, into: into[at] }, worker),
      ),
    );
  await all([]);
  const into = asked.map(() => new SharedArrayBuffer(4));
  await all(into);
  for (const [at, { answer }] of asked.entries()) {
    assert.equal(new Int32Array(answer)[0], STATE.copied);
    assert.deepEqual([...new Uint8Array(into[at])], [1, 2, 3, 4]);
  }
  await all(into); // nothing is left for them
  assert.ok(asked.every(({ answer }) => new Int32Array(answer)[0] === STATE.lost));
});

test("packages arrive together, and each worker gets a copy of its own", async () => {
  /** @type {(import("../../static/engine/data-store.js").Awaited | null)[]} */
  const told = [];
  const store = new DataStore({
    arrived: () => {},
    problem: () => {},
    yours: () => Promise.reject(new Error("none")),
    awaited: (awaited) => told.push(awaited),
  });
  const [six, dateutil] = ["/packages/six", "/packages/python-dateutil"];
  const answer = new SharedArrayBuffer(8);
  const served = store.serve(
    { kind: "data_file", path: six, answer, beside: [six, dateutil] },
    WORKER,
  );
  await until(() => told.at(-1)?.total === 2 * SIZE && told.at(-1)?.received === SIZE);
  assert.ok(told.every((each) => each?.set === "packages"));
  for (const finish of held.values()) finish();
  await served;
  const into = new SharedArrayBuffer(SIZE);
  await store.serve({ kind: "data_file", path: six, answer, into }, WORKER);
  new Uint8Array(into).fill(7); // as a program can
  await until(() => store.codeOf([six, dateutil, "/packages/pandas"]).size === 2);
  assert.equal(store.codeOf([six]).get(six)?.[0], 0);
  assert.equal(store.contents.size, 0, "it is not shared with other workers");
  held.clear();
});

test("a program that waits is told which data set arrives, and how much of it", async () => {
  /** @type {(import("../../static/engine/data-store.js").Awaited | null)[]} */
  const told = [];
  const store = new DataStore({
    arrived: () => {},
    problem: () => {},
    yours: () => Promise.reject(new Error("none")),
    awaited: (awaited) => told.push(awaited),
  });
  const paths = PARTS.map((part) => `/data/fashion_mnist/${part}`);
  store.expect([...paths, "/data/mnist/test-labels"]);
  await until(() => held.size === 3);
  assert.deepEqual(told, [], "nobody waits yet");
  const answer = new SharedArrayBuffer(8);
  const served = store.serve({ kind: "data_file", path: paths[0], answer }, WORKER);
  await until(() => told.at(-1)?.total === 2 * SIZE && told.at(-1)?.received === SIZE);
  held.get(paths[1])();
  await until(() => told.at(-1)?.received === 1.5 * SIZE);
  assert.ok(
    told.every((each) => each?.set === "fashion_mnist"),
    "not of another set",
  );
  held.get(paths[0])();
  await served;
  assert.equal(new Int32Array(answer)[0], STATE.file);
  assert.equal(told.at(-1), null, "the program continues");
  const count = told.length;
  await store.serve(
    { kind: "data_file", path: paths[1], answer: new SharedArrayBuffer(8) },
    WORKER,
  );
  assert.deepEqual(told.slice(count).filter(Boolean), [], "it is here already");
  held.get("/data/mnist/test-labels")();
  await until(() => store.contents.size === 3);
  server.close();
});

test("loading progress is shown in whole megabytes", () => {
  assert.equal(
    en.status.loadingData("Clothes", 12, 31),
    "The program waits for its data: Clothes, 12 of 31 MB loaded…",
  );
  assert.equal(
    en.status.loadingData("Clothes", 2, 0),
    "The program waits for its data: Clothes, 2 MB loaded…",
  );
});
