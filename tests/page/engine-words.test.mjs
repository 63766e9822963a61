// What the engine's workers report is said in the language of the page.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { load } from "../../static/engine/downloads.js";
import { LoadReport, delay } from "../../static/engine/load-report.js";
import { isWellFormed } from "../../static/engine/message-checks.js";
import { dataProblem, inWords, said } from "../../static/js/engine/engine-words.js";
import { en } from "../../static/js/messages/en.js";
import { ARRIVALS, ENGINE } from "../../static/js/messages/zh-hans-engine.js";
import { zhHans } from "../../static/js/messages/zh-hans.js";

const DIGEST = "sha-256=:AAAA:";
/** What the server does with each path. */
const ANSWERS = {
  "/data/gone": (answer) =>
    answer.writeHead(404, { "Content-Type": "text/plain" }).end("There is no such file."),
  "/data/cut": (answer) => answer.writeHead(200, { "Unencoded-Length": "10" }).end("short"),
  "/data/damaged": (answer) => answer.writeHead(200, { "Playgrad-Digest": DIGEST }).end("other"),
  "/data/large": (answer) =>
    answer.writeHead(200, { "Unencoded-Length": "1000" }).end("x".repeat(1000)),
  "/data/broken": (answer) => answer.destroy(),
};

const server = createServer((request, answer) => ANSWERS[request.url](answer));
before(() => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve)));
after(() => server.close());

/** The failure of a download that is tried once. */
async function failure(name) {
  const { port } = server.address();
  globalThis.self ??= { location: { href: "http://localhost/" } };
  return await load(`http://127.0.0.1:${port}/data/${name}`, {
    most: 500,
    patient: () => false,
  }).then(
    () => assert.fail(`${name} has arrived`),
    (error) => error,
  );
}

const chinese = (error) => zhHans.engine.said(error.sentence);

test("the reason why a file does not arrive is reported", async () => {
  const all = Object.fromEntries(
    await Promise.all(
      ["gone", "cut", "damaged", "large", "broken"].map(async (name) => [
        name,
        await failure(name),
      ]),
    ),
  );
  assert.equal(all.gone.message, "gone: the server answers There is no such file.");
  assert.equal(chinese(all.gone), "gone：服务器返回“There is no such file”。");
  assert.equal(all.cut.message, "cut arrived damaged: 5 of 10 bytes arrived.");
  assert.equal(chinese(all.cut), "cut 收到时已损坏：10 字节中只收到 5 字节。");
  assert.equal(all.damaged.message, "damaged arrived damaged: its checksum is wrong.");
  assert.equal(chinese(all.damaged), "damaged 收到时已损坏：校验和不正确。");
  assert.match(all.large.message, /^\/data\/large is larger than 500 bytes/);
  assert.match(chinese(all.large), /^\/data\/large 超过 500 字节/);
  assert.match(all.broken.message, /^broken: the server cannot be reached/);
  assert.match(chinese(all.broken), /^broken：无法连接服务器/);
  const codes = Object.values(all).map(({ sentence }) => sentence.code);
  const others = ["silent", "offline"]; // which take a quarter of a minute, or the network away
  assert.deepEqual([...codes, ...others].sort(), Object.keys(ARRIVALS).sort());
});

test("a worker's report is well formed, and becomes sentences", async () => {
  const sent = [];
  const { problem } = new LoadReport((state) =>
    sent.push({ kind: "loading", stage: "python", ...state }),
  ).options("/python");
  problem(await failure("gone"), 1500);
  problem(null, 0);
  for (const message of sent) assert.ok(isWellFormed(message), JSON.stringify(message));
  assert.equal(isWellFormed({ ...sent[0], problem: "a sentence" }), false);
  assert.deepEqual(
    sent.map((message) => inWords(message).problem),
    [
      "gone: the server answers There is no such file. Trying again in 2 s. If the server was updated, reload the page.",
      "",
    ],
  );
});

test("a data set that does not arrive is reported", async () => {
  const problem = { ...delay(await failure("cut"), 500), isMissing: false };
  assert.equal(
    dataProblem(problem),
    "A file that the program needs does not arrive: cut arrived damaged: 5 of 10 bytes arrived. Trying again in 1 s.",
  );
  assert.equal(dataProblem(null), "");
});

test("other sentences of the engine are translated as they are there", () => {
  const folder = new URL("../../static/engine/", import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const code = names
    .map((name) => readFileSync(new URL(name, folder), "utf8"))
    .join("\n")
    .replace(/"\s*\+\s*"/g, "");
  for (const [sentence, translated] of Object.entries(ENGINE)) {
    // A constant, or a reason in place of the browser's.
    const parts = sentence.split(/\b\d+\b|(?<=failed: )/);
    for (const part of parts) assert.ok(code.includes(part), sentence);
    assert.equal(zhHans.engine.said({ message: sentence, code: "", values: {} }), translated);
    assert.equal(en.engine.said({ message: sentence, code: "", values: {} }), sentence);
  }
  assert.equal(said("anything else"), "anything else");
  assert.equal(
    zhHans.engine.said({ message: "forged", code: "constructor", values: {} }),
    "forged",
  );
});
