import assert from "node:assert/strict";
import test from "node:test";
import { callAt, nameAt } from "../../static/js/language/asking.js";
import { names, withCursor } from "./language.mjs";

const START = "import playgrad as pg\nfrom playgrad import nn\nmodel = pg.Sequential([])\n";

/** The called name and the current parameter at the `|`. */
function call(text) {
  const { program, at } = withCursor(START + text);
  const found = callAt(program, at);
  return found && [found.name, names.parameters(found.name)[found.parameter]?.[0] ?? null];
}

/** The known name at the `|`. */
function name(text) {
  const { program, at } = withCursor(START + text);
  return nameAt(program, at)?.name ?? null;
}

test("the call around the cursor and its current parameter are found", () => {
  assert.deepEqual(call("nn.Dense(|"), ["nn.Dense", "units"]);
  assert.deepEqual(call("nn.Dense(|)"), ["nn.Dense", "units"]);
  assert.deepEqual(call("nn.Dense(64|)"), ["nn.Dense", "units"]);
  assert.deepEqual(call("nn.Dense(64, |)"), ["nn.Dense", "activation"]);
  assert.deepEqual(call("nn.Dense(64, |"), ["nn.Dense", "activation"]);
  assert.deepEqual(call("nn.Dense(64, use_bias=Fa|)"), ["nn.Dense", "use_bias"]);
  assert.deepEqual(call("nn.Dense(64, use_bias=False, |)"), ["nn.Dense", null]);
  assert.deepEqual(call("model.fit(\n    x,\n    y,\n    epochs=|\n)"), ["Model.fit", "epochs"]);
  assert.deepEqual(call("model.add(nn.Dense(3, |))"), ["nn.Dense", "activation"]);
  assert.deepEqual(call("model.add(nn.Dense(3)|)"), ["Sequential.add", "layer"]);
  assert.deepEqual(call("pg.Sequential([nn.Dense(|)])"), ["nn.Dense", "units"]);
});

test("positions outside a call give no help", () => {
  assert.equal(call("nn.Dense(64)|"), null);
  assert.equal(call("nn.Dense|(64)"), null);
  assert.equal(call("print(|)"), null);
  assert.equal(call("pg.Sequential([|])"), null, "a list of layers is not a place for help");
  assert.equal(call("x = 3|"), null);
});

test("the name at the cursor is resolved", () => {
  assert.equal(name("nn.Den|se(3)"), "nn.Dense");
  assert.equal(name("nn.Dense|"), "nn.Dense");
  assert.equal(name("mod|el.fit(x)"), "Sequential");
  assert.equal(name("model.f|it(x)"), "Model.fit");
  assert.equal(name("model.hist|ory"), "Model.history");
  assert.equal(name("from playgrad.nn import De|nse"), "nn.Dense");
  assert.equal(name("|nn"), "nn");
  assert.equal(name("unkn|own"), null);
  assert.equal(name('"nn.De|nse"'), null);
});
