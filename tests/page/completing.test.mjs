import assert from "node:assert/strict";
import test from "node:test";
import { suggest } from "../../static/js/language/completing.js";
import { withCursor } from "./language.mjs";

/** The labels that are suggested at the `|`. */
function labels(text) {
  const { program, at } = withCursor(text);
  return suggest(program, at)?.options.map(({ label }) => label) ?? [];
}

const has = (text, ...expected) => {
  const found = labels(text);
  for (const each of expected)
    assert.ok(found.includes(each), `${each} after ${text}: ${found.slice(0, 9)}`);
};
const lacks = (text, ...unexpected) => {
  const found = labels(text);
  for (const each of unexpected) assert.ok(!found.includes(each), `${each} after ${text}`);
};

test("names follow a module, as the program imports it", () => {
  has("import playgrad as pg\npg.|", "Sequential", "nn", "optim", "relu", "Session");
  has("import playgrad as pg\npg.optim.A|", "Adam", "SGD");
  has("from playgrad import nn\nmodel = [nn.De|]", "Dense", "LSTM");
  has("import playgrad.nn as nn\nnn.|", "Dense");
  has("from playgrad import nn as layers\nlayers.|", "Dense");
  has("import playgrad.nn\nplaygrad.nn.|", "Dense");
  has("from playgrad import *\nimport playgrad\nplaygrad.|", "Sequential");
  has("import playgrad as pg\nmodel.add(pg.nn.|\n\nmodel.fit()", "Dense");
  assert.deepEqual(labels("nn.|"), [], "nothing is known of a name that is not imported");
  assert.deepEqual(labels("import numpy as np\nnp.|"), []);
});

test("names follow objects whose constructor is in sight", () => {
  const start =
    "import playgrad as pg\nfrom playgrad import nn\nmodel = pg.Sequential([nn.Dense(2)])\n";
  has(`${start}model.|`, "fit", "compile", "add", "get_weights", "summary", "history");
  has(`${start}history = model.fit(x, y)\nhistory.|`, "history", "losses");
  has(`${start}model.layers[0].|`, "trainable", "get_config");
  has(`${start}for layer in model.layers[:-1]:\n    layer.|`, "trainable");
  has(`${start}with pg.Session() as session:\n    session.|`, "run");
  has(`${start}h = nn.Dense(3)(pg.Input((2,)))\nh.|`, "numpy");
  has(`${start}pg.Sequential([]).|`, "fit");
  for (const name of ["first", "second", "third"])
    has(`${start}first = second = third = nn.Dense(3)\n${name}.|`, "trainable");
  lacks(`${start}model = 3\nmodel.|`, "fit");
  lacks(`${start}def f(model):\n    model.|\n`, "fit");
  has(`${start}def f():\n    model.|\n`, "fit");
});

test("imports are completed", () => {
  has("from playgrad import |", "nn", "Sequential");
  has("from playgrad import nn, o|", "optim");
  has("from playgrad.nn import (\n    Dense,\n    Co|", "Conv2D");
  has("from playgrad.|", "nn", "optim");
  lacks("from playgrad.|", "Sequential");
  has("import play|", "playgrad");
  assert.deepEqual(labels("from playgrad import nn as |"), []);
  assert.deepEqual(labels("from numpy import |"), []);
  assert.deepEqual(labels(`from playgrad import ${"a".repeat(99)}.|`), []);
});

test("keyword arguments are completed inside a call", () => {
  const start = "import playgrad as pg\nfrom playgrad import nn\n";
  has(`${start}nn.Dense(64, act|`, "activation=", "use_bias=");
  lacks(`${start}nn.Dense(64, act|`, "units=");
  lacks(`${start}nn.Dense(64, use_bias=False, act|)`, "use_bias=");
  has(`${start}pg.optim.Adam(c|)`, "clipnorm=");
  has(`${start}model = pg.Sequential([])\nmodel.fit(x, y, e|)`, "epochs=");
  has(
    `${start}model = pg.Sequential([])\nmodel.fit(\n    x,\n    y,  # labels\n    v|\n)`,
    "validation_data=",
  );
  has(`${start}pg.Sequential([nn.Dense(2, a|)])`, "activation=");
  assert.deepEqual(
    labels(`${start}nn.Dense(64, activation=r|)`),
    [],
    "a value is not a name of an argument",
  );
  assert.deepEqual(labels(`${start}pg.Sequential([n|])`), []);
  assert.deepEqual(labels(`${start}nn.Dense(64, |`), [], "nothing opens before a letter");
});

test("nothing is suggested in texts, comments and numbers", () => {
  for (const text of ['"pg.|"', "# pg.|", "1.|", "f'pg.|'"]) {
    assert.deepEqual(labels(`import playgrad as pg\n${text}`), [], text);
  }
});
