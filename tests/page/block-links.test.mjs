import assert from "node:assert/strict";
import test from "node:test";
import { blockOf } from "../../static/js/cards/block-links.js";
import { readProgram } from "../../static/js/blocks/reader.js";

const HEAD = "import playgrad as pg\nfrom playgrad import nn\n";
const layers = (lines) =>
  Object.entries(lines).map(([name, line]) => ({ name, line, type: "", shape: [], parameters: 0 }));
/** The indices of the blocks of all layers, in the first network. */
const blocks = (code, lines) => {
  const program = readProgram(HEAD + code);
  return layers(lines).map(({ name }) => blockOf(program, layers(lines), name)?.index ?? null);
};

test("a layer's block is the one on its line", () => {
  const code =
    "model = pg.Sequential([\n    nn.Flatten(),\n    nn.Dense(\n        3,\n    ),\n])\n";
  assert.deepEqual(blocks(code, { flatten_1: 4, dense_1: 5 }), [0, 1]);
});

test("of several blocks on a line, a layer gets the one at its place", () => {
  const code = "model = pg.Sequential([pg.Input((4,)), nn.Dense(3), nn.Dense(2)])\n";
  assert.deepEqual(blocks(code, { dense_1: 3, dense_2: 3 }), [1, 2]);
  assert.deepEqual(blocks(code, { dense_1: 3, dense_2: 3, dense_3: 3 }), [null, null, null]);
});

test("layers from elsewhere, and from a loop, have no block of their own", () => {
  const code =
    "layers = [nn.Dense(3) for _ in range(2)]\nmodel = pg.Sequential([*layers, nn.Dense(2)])\n";
  const [first, second, third, unknown] = blocks(code, {
    dense_1: 3,
    dense_2: 3,
    dense_3: 4,
    dense_4: null,
  });
  assert.deepEqual([first, second, unknown], [null, null, null]);
  assert.equal(third, 1);
});

test("further calls of a layer have its block", () => {
  const code = "x = pg.Input((4,))\ndense = nn.Dense(4)\nmodel = pg.Model(x, dense(dense(x)))\n";
  const [first, again] = blocks(code, { dense_1: 4, "dense_1:2": 4 });
  assert.equal(first, again);
});
