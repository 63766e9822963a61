/** Programs that load models of the visitor: names, the line that is written, and whole programs. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { applyChanges } from "../../static/js/blocks/lists.js";
import { readProgram } from "../../static/js/blocks/reader.js";
import {
  loadedModels,
  problemOfModelName,
  suggestedModelName,
} from "../../static/js/own-data/data-names.js";
import { takeIn } from "../../static/js/own-data/intake.js";
import { modelChanges, modelProgram } from "../../static/js/own-data/model-line.js";

/** @param {string} text @param {string} [name] @param {number | null} [length] */
const loading = (text, name = "lenet.onnx", length = null) =>
  applyChanges(text, modelChanges(readProgram(text), { name, length }));

const LINE = 'model = pg.load_model("lenet.onnx")';
const HEAD = "import playgrad as pg\nfrom playgrad import nn\n";

test("a line is written where the program loads or builds its model", () => {
  assert.equal(
    loading(`${HEAD}\nbase = pg.load_model("old.keras")\n`),
    `${HEAD}\nbase = pg.load_model("lenet.onnx")\n`,
  );
  assert.equal(loading(`${HEAD}\n${LINE}\n`), `${HEAD}\n${LINE}\n`);
  assert.equal(
    loading(
      `${HEAD}\nmodel = pg.Sequential([nn.Flatten(), nn.Dense(10)])\nmodel.compile("adam", "mse")\n`,
    ),
    `${HEAD}\n${LINE}\nmodel.compile("adam", "mse")\n`,
  );
  const inputs = `${HEAD}\nx = pg.Input((4,))\nnet = pg.Model(`;
  assert.equal(
    loading(`${inputs}x, nn.Dense(2)(x))\n`),
    `${HEAD}\nx = pg.Input((4,))\nnet = pg.load_model("lenet.onnx")\n`,
  );
  const added = "model = pg.Sequential()\nmodel.add(nn.Dense(2))\n";
  assert.equal(loading(`${HEAD}${added}`), `${HEAD.trimEnd()}\n\n${LINE}\n${added}`);
  const inside = "def build():\n    return pg.Sequential([nn.Dense(2)])\n";
  assert.equal(loading(`${HEAD}\n${inside}`), `${HEAD.trimEnd()}\n\n${LINE}\n\n${inside}`);
  const comment = '# pg.load_model("old.onnx")\n';
  assert.equal(loading(`${HEAD}\n${comment}`), `${HEAD.trimEnd()}\n\n${LINE}\n\n${comment}`);
});

test("a line has the length of the sequences if the file leaves it open", () => {
  const line = (/** @type {number} */ length) =>
    `model = pg.load_model("a.keras", sequence_length=${length})`;
  const with50 = loading(`${HEAD}\n${LINE}\n`, "a.keras", 50);
  assert.equal(with50, `${HEAD}\n${line(50)}\n`);
  assert.equal(loading(with50, "a.keras", 50), with50);
  assert.equal(loading(with50, "a.keras", 7), `${HEAD}\n${line(7)}\n`);
  assert.equal(loading(with50), `${HEAD}\n${LINE}\n`, "another model has no such argument");
  const spaced = `${HEAD}\nmodel = pg.load_model('a.keras',\n    sequence_length = 50)\n`;
  assert.equal(loading(spaced, "a.keras", 50), spaced);
  const built = loading(`${HEAD}\nmodel = pg.Sequential([nn.LSTM(2)])\n`, "a.keras", 50);
  assert.equal(built, `${HEAD}\n${line(50)}\n`);
  const inputs = [{ shape: [50, 3], dtype: "float32" }];
  const whole = modelProgram("a.keras", { inputs, compiled: true, sequence_length: 50 });
  assert.ok(whole.includes(`${line(50)}\n`) && whole.includes("size=(2, 50, 3)"), whole);
});

test("a program without the library imports it", () => {
  const empty = loading("");
  assert.equal(empty, `import playgrad as pg\n\n${LINE}\n`);
  assert.equal(loading(empty), empty);
});

test("a whole program makes samples as the model takes them", () => {
  const one = modelProgram("a.onnx", {
    inputs: [{ shape: [null, 28], dtype: "float32" }],
    compiled: false,
  });
  assert.ok(
    one.includes('pg.load_model("a.onnx")') && one.includes("size=(2, 1, 28)).astype(np.float32)"),
    one,
  );
  assert.ok(one.includes("# model.compile("));
  const words = { shape: [6], dtype: "int32" };
  const two = modelProgram("a.keras", {
    inputs: [words, { shape: [], dtype: "bool" }],
    compiled: true,
  });
  assert.ok(
    two.includes(
      "random.integers(2, size=(2, 6)).astype(np.int32),\n    random.integers(2, size=(2)).astype(bool),",
    ),
    two,
  );
  assert.ok(!two.includes("# model.compile("));
  for (const text of [one, two]) assert.equal(readProgram(text).broken, false);
});

test("names of models are found in programs and validated", () => {
  const program =
    'a = pg.load_model("a.onnx")\n# pg.load_model("b.onnx")\nc = load_model( \'c d.keras\' )\npg.load_model("x/y.onnx")\n';
  assert.deepEqual(loadedModels(program), ["a.onnx", "c d.keras"]);
  assert.deepEqual(
    loadedModels('model.export("a.onnx")\npg.load_model("a.onnx")'),
    [],
    "the program writes it",
  );
  assert.equal(problemOfModelName("my net.onnx", ".onnx"), "");
  for (const name of [".onnx", "net", "net.keras", 'a"b.onnx', "a/b.onnx", ""])
    assert.notEqual(problemOfModelName(name, ".onnx"), "", name);
  assert.equal(suggestedModelName("folder/My net (1).ONNX", []), "My-net-1.onnx");
  assert.equal(suggestedModelName("net.onnx", ["net.onnx", "net-2.onnx"]), "net-3.onnx");
  assert.equal(suggestedModelName("a/web.TFJS.zip", ["web.tfjs.zip"]), "web-2.tfjs.zip");
  assert.ok(suggestedModelName(`${"x".repeat(200)}.safetensors`, []).length <= 60);
});

/** @param {unknown} header @returns {Blob} a safetensors file without tensors */
function safetensors(header) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new DataView(new ArrayBuffer(8));
  length.setBigUint64(0, BigInt(text.length), true);
  return new Blob([length.buffer, text]);
}

test("model files are told from weights by their metadata", async () => {
  const take = (/** @type {string} */ name, /** @type {Blob} */ blob) =>
    takeIn([{ path: `folder/${name}`, blob }]);
  const blob = new Blob(["anything"]);
  for (const name of [
    "a.onnx",
    "a.KERAS",
    "a.playgrad",
    "a.safetensors",
    "a.pt.zip",
    "a.tfjs.zip",
  ]) {
    const draft = await take(name, blob);
    assert.ok(draft.kind === "model" && draft.name === name && draft.bytes.length === 8);
  }
  assert.equal(
    (await take("a.safetensors", safetensors({ __metadata__: { "playgrad.model": "{}" } }))).kind,
    "model",
  );
  for (const header of [{}, { __metadata__: { format: "np" } }]) {
    await assert.rejects(
      take("a.safetensors", safetensors(header)),
      /a\.safetensors holds weights/,
    );
  }
  await assert.rejects(take("model.json", blob), /Pack model\.json and its \.bin files/);
  const files = ["web/model.json", "web/weights.bin"].map((path) => ({ path, blob }));
  await assert.rejects(takeIn(files), /Pack model\.json and its \.bin files/);
  await assert.rejects(take("a.onnx", new Blob([])), /a\.onnx is empty/);
  const large = /** @type {any} */ ({ size: 2 ** 30, slice: () => assert.fail("it is not read") });
  await assert.rejects(
    take("a.onnx", large),
    /a\.onnx has 1024 MiB, and this page reads at most 512 MiB/,
  );
});
