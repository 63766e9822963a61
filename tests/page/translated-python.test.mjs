// Texts that Python has in English and the page shows as its own: each has a translation, and none is left over.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { titleOf } from "../../static/js/panels/lab/lab.js";
import { en } from "../../static/js/messages/en.js";
import { BRIDGE, LAB } from "../../static/js/messages/zh-hans-library.js";
import { zhHans } from "../../static/js/messages/zh-hans.js";
import { file } from "./language.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What the Lab offers. */
function readChoices() {
  const script = "import json; from playgrad.page.lab import choices; print(json.dumps(choices()))";
  const options = { cwd: root, env: { ...process.env, PYTHONPATH: `${root}/app` } };
  const result = spawnSync(`${root}/.venv/bin/python`, ["-c", script], options);
  assert.equal(result.status, 0, String(result.stderr));
  return JSON.parse(String(result.stdout));
}

const choices = readChoices();
const inOrder = (texts) => [...new Set(texts)].sort();

test("the sentences of the bridge are translated", () => {
  const { rules, absent, arguments: byName } = file.bridge;
  const all = [
    ...Object.values(rules),
    ...Object.values(byName).flatMap((each) => Object.values(each)),
  ];
  const sentences = [...all.map(({ no }) => no).filter(Boolean), ...Object.values(absent)];
  assert.ok(sentences.length > 50);
  assert.deepEqual(inOrder(Object.keys(BRIDGE)), inOrder(sentences));
});

test("the choices of the Lab are translated", () => {
  const offered = [
    choices.strategies,
    choices.schedules,
    choices.collectives,
    choices.details,
  ].flat();
  const texts = offered.flatMap(({ title, about }) => [title, about]);
  // The title of a run whose program sets the devices is not offered.
  assert.deepEqual(inOrder(Object.keys(LAB)), inOrder([...texts, "Placed by the program"]));
});

test("titles of runs are kept in English and shown in the language of the page", () => {
  const settings = {
    strategy: "pipeline",
    devices: 3,
    micro_batches: 8,
    schedule: "interleaved",
    collective: "auto",
    delays: [0, 25],
    steps: 0,
    chunks: 2,
    staleness: 3,
    every: 4,
  };
  const shown = (change) => zhHans.lab.titled(titleOf({ ...settings, ...change }, choices));
  assert.equal(shown({}), "流水线，交错，8 个微批次，2 个分组，延迟 25 ms");
  assert.equal(shown({ strategy: "async", delays: [] }), "异步数据并行，最多领先 3");
  assert.equal(
    shown({ strategy: "local", delays: [], collective: "ring" }),
    "本地 SGD，每 4 步，环",
  );
  assert.equal(shown({ strategy: "single" }), "单个设备");
  assert.equal(zhHans.lab.titled("Pipeline, GPipe, 1 micro-batch"), "流水线，GPipe，1 个微批次");
  assert.equal(zhHans.lab.titled("Mine, of 3"), "Mine, of 3");
  assert.equal(en.lab.titled("Pipeline, GPipe"), "Pipeline, GPipe");
});

test("the editor knows phrases by these names", () => {
  const editor = readFileSync(`${root}/static/vendor/codemirror.js`, "utf8");
  for (const phrase of Object.keys(zhHans.codeHelp.phrases))
    assert.ok(
      ['"', "'", "`"].some((quote) => editor.includes(quote + phrase + quote)),
      phrase,
    );
});
