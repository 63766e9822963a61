import assert from "node:assert/strict";
import test from "node:test";
import { literalOf } from "../../static/js/blocks/calls.js";
import { GROUPS, LOSSES, OPTIMIZERS, entryOf } from "../../static/js/blocks/catalogue.js";
import {
  inputText,
  placeOfRate,
  quoted,
  rateAt,
  shapeLiteral,
  stepped,
  valueText,
} from "../../static/js/blocks/field-values.js";
import { readProgram } from "../../static/js/blocks/reader.js";
import { parametersOf } from "../../static/js/blocks/signatures.js";
import { en } from "../../static/js/messages/en.js";

const whole = { type: "count", least: 1 };

test("one step forth and one back lead to the same number", () => {
  for (const start of [1, 2, 15, 16, 17, 31, 32, 100, 128, 784, 1000]) {
    const more = stepped(String(start), 1, whole);
    assert.ok(Number(more) > start);
    if (start % 16 === 0 || start < 16) assert.equal(stepped(more, -1, whole), String(start));
  }
  assert.equal(stepped("1", -1, whole), "1");
  assert.equal(stepped("128", 1, whole), "144");
  assert.equal(stepped("64", 1, whole, true), "128");
  assert.equal(stepped("50", -1, whole, true), "25");
  const rate = { type: "number", least: 0, most: 0.95, step: 0.05 };
  assert.equal(stepped("0.1", 1, rate), "0.15");
  assert.equal(stepped("0.95", 1, rate), "0.95");
});

test("sizes are written as tuples", () => {
  assert.equal(shapeLiteral("28 × 28"), "(28, 28)");
  assert.equal(shapeLiteral("(28, 28, 1)"), "(28, 28, 1)");
  assert.equal(shapeLiteral("4"), "(4,)");
  assert.equal(shapeLiteral("-1 x 3"), "(-1, 3)");
  for (const text of ["", "a", "2.5", "0", "3; 4"]) assert.equal(shapeLiteral(text), null, text);
});

test("literals keep their value on the way to a field and back", () => {
  for (const text of [
    "3",
    "0.5",
    "None",
    "True",
    '"same"',
    "(1, 2)",
    "(1,)",
    "[1, 2]",
    "((0, 1), (2, 3))",
  ]) {
    assert.equal(valueText(literalOf(text)), text);
  }
  assert.equal(inputText({ type: "size" }, literalOf("(3, 3)")), "3");
  assert.equal(inputText({ type: "size" }, literalOf("(3, 2)")), null);
  assert.equal(inputText(whole, literalOf("2.5")), null);
  assert.equal(quoted('"relu"', "a = 'b'"), "'relu'");
  assert.equal(quoted('"relu"', 'a = "b"'), '"relu"');
});

test("the slider of learning rates is logarithmic", () => {
  assert.equal(rateAt(-3), 0.001);
  assert.equal(rateAt(-2.5), 0.0032);
  assert.equal(placeOfRate(0.01), -2);
  assert.equal(placeOfRate(0), -5);
  assert.equal(placeOfRate(100), 0);
});

test("the options of the menus exist in the library", () => {
  for (const { entries } of GROUPS) {
    for (const { kind, given, fields } of entries) {
      const program = readProgram(
        `from playgrad import nn\nm = nn.Sequential([nn.${kind}(${given})])\n`,
      );
      const [item] = program.networks[0].items;
      assert.equal(item.type, "layer", kind);
      const names = (parametersOf(`nn.${kind}`) ?? []).map(({ name }) => name);
      for (const { parameter } of fields)
        assert.ok(names.includes(parameter), `${parameter} of ${kind}`);
      for (const argument of item.call.arguments) assert.ok(names.includes(argument.parameter));
      assert.match(en.layers.about[kind], /^[A-Z].*\.$/);
      assert.equal(entryOf(kind).kind, kind);
    }
  }
  for (const kind of OPTIMIZERS) assert.ok(parametersOf(`optim.${kind}`), kind);
  for (const { kind } of LOSSES) assert.ok(parametersOf(`nn.${kind}`), kind);
});

test("every field and every value of a menu has a definition", () => {
  const { fields, terms } = en.blocks;
  assert.deepEqual(Object.keys(terms.fields).sort(), Object.keys(fields).sort());
  const layers = GROUPS.flatMap(({ entries }) => entries.flatMap((entry) => entry.fields));
  const options = layers
    .flatMap((field) => field.options ?? [])
    .map((each) => each.replaceAll('"', ""));
  const losses = LOSSES.map(({ kind }) => kind);
  const values = new Set([...options, ...OPTIMIZERS, ...losses, "L1", "L2"]);
  assert.deepEqual(Object.keys(terms.values).sort(), [...values].sort());
});
