import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { applyChanges } from "../../static/js/blocks/lists.js";
import { problemsOf } from "../../static/js/blocks/objective.js";
import { readProgram } from "../../static/js/blocks/reader.js";
import { runProblem } from "../../static/js/blocks/run-problem.js";
import { inferShapes } from "../../static/js/blocks/shapes.js";
import { fitted, suitedSettings } from "../../static/js/blocks/suited.js";
import { SETS } from "../../static/js/blocks/data.js";
import { argumentOf } from "../../static/js/blocks/calls.js";

const folder = new URL("../../static/examples/", import.meta.url);
const example = (name) => readFileSync(new URL(`${name}.py`, folder), "utf8");
const HEAD = "import playgrad as pg\nfrom playgrad import nn\n\n";

/** A training on a data set. */
const program = (layers, { data = "spiral(200)", loss, fit = "", optimizer = "Adam(0.01)" } = {}) =>
  `${HEAD}${/^(spiral|moons)/.test(data) ? "x, y" : "(x, y), test"} = pg.data.${data}
model = pg.Sequential([${layers}])
model.compile(optimizer=pg.optim.${optimizer}, loss=${loss ?? "nn.SparseCategoricalCrossentropy(from_logits=True)"}, metrics=["accuracy"])
model.fit(x, y${fit})
`;

const read = (text) => readProgram(text);
const problems = (text) => {
  const known = read(text);
  return problemsOf(known, inferShapes(known));
};
/** The program with a mend. */
const mended = (text, { mends }, at = 0) => applyChanges(text, mends[at].changes);
/** The first problem of a program has a mend, after which it has none. */
const expectMend = (text, [first], replaced, at = 0) => {
  const next = mended(text, first, at);
  for (const [before, after] of replaced) {
    assert.ok(!before || !next.includes(before), next);
    assert.ok(next.includes(after), next);
  }
  assert.deepEqual(problems(next), []);
};

test("nothing is wrong with the cards of the examples", () => {
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".py"))) {
    const found = problems(readFileSync(new URL(name, folder), "utf8"));
    assert.deepEqual(
      found.map(({ words }) => words),
      [],
      name,
    );
  }
});

test("nothing is said of labels that the program has changed, or of a model that it compiles again", () => {
  const loss = "nn.BinaryCrossentropy(from_logits=True)";
  const text = program("nn.Flatten(), nn.Dense(1)", { data: "mnist()", loss });
  assert.equal(problems(text).length, 1);
  for (const change of [
    "y %= 2",
    "y = y % 2",
    "y[:] = y % 2",
    "y[y > 0] = 1",
    "relabel(y)",
    "if small:\n    y[y > 0] = 1",
    "for each in range(9):\n    y[each] = 1",
  ])
    assert.deepEqual(problems(text.replace("model =", `${change}\nmodel =`)), [], change);
  const again = "model.compile(optimizer='adam', loss='mse')\nmodel.fit";
  assert.deepEqual(problems(text.replace("model.fit", again)), []);
});

test("the last layer has as many outputs as the data has classes", () => {
  for (const count of [1, 3]) {
    const text = program(`nn.Dense(8), nn.Dense(${count})`);
    const found = problems(text);
    assert.deepEqual(
      found.map(({ card, words }) => [card, words]),
      [
        [
          "block-0-1",
          `The last layer has ${count === 1 ? "1 output" : "3 outputs"}, the data has 2 classes.`,
        ],
      ],
    );
    assert.equal(found[0].mends[0].words, "Make it 2");
    expectMend(text, found, [[`nn.Dense(${count})`, "nn.Dense(2)"]]);
  }
  const computed = problems(program("nn.Dense(8), nn.Dense(len(names))"));
  assert.deepEqual(computed, []);
});

test("a loss that is not for the targets gives way to one that is", () => {
  const text = program("nn.Dense(8), nn.Dense(10)", {
    data: "mnist()",
    loss: "nn.CategoricalCrossentropy(from_logits=True)",
  }).replace("nn.Dense(8)", "nn.Flatten(), nn.Dense(8)");
  const found = problems(text);
  assert.deepEqual([found[0].card, found[0].parameter], ["training-0", "loss"]);
  expectMend(text, found, [
    ["nn.Categorical", "loss=nn.SparseCategoricalCrossentropy(from_logits=True)"],
  ]);

  const binary = program('nn.Flatten(), nn.Dense(1, activation="sigmoid")', {
    data: "mnist()",
    loss: '"binary_crossentropy"',
  });
  expectMend(binary, problems(binary), [
    ["sigmoid", "nn.Dense(10)"],
    ["binary", "loss=nn.SparseCategoricalCrossentropy(from_logits=True)"],
  ]);

  const softmax = program('nn.Flatten(), nn.Dense(10, activation="softmax")', {
    data: "mnist()",
    loss: '"mse"',
  });
  const [first] = problems(softmax);
  assert.equal(first.mends.length, 2);
  expectMend(softmax, [first], [["mse", "loss=nn.SparseCategoricalCrossentropy()"]]);
  expectMend(softmax, [first], [["Dense(10", 'nn.Dense(1, activation="softmax")']], 1);
});

test("another loss keeps the arguments that it takes, too, and their comments", () => {
  const loss = `nn.CategoricalCrossentropy(  # one-hot before
        from_logits=True,
        # For a sum over the batch:
        reduction="sum",  # not the mean
        label_smoothing=0.1,  # only of this loss
        axis=-1,
    )`;
  const text = program("nn.Flatten(), nn.Dense(8), nn.Dense(10)", { data: "mnist()", loss });
  expectMend(text, problems(text), [
    [
      "label_smoothing",
      `loss=nn.SparseCategoricalCrossentropy(  # one-hot before
        from_logits=True,
        # For a sum over the batch:
        reduction="sum",  # not the mean
        axis=-1,
    ), metrics`,
    ],
  ]);

  const binary = (/** @type {string} */ given, layer = "nn.Dense(1)") =>
    program(`nn.Flatten(), ${layer}`, {
      data: "mnist()",
      loss: `nn.BinaryCrossentropy(${given})`,
    });
  for (const [given, next] of [
    ["from_logits=True, reduction='sum'", "from_logits=True, reduction='sum'"],
    ["True, 0.1, -1, 'sum'", "True"],
    ["reduction=how(), from_logits=False", "reduction=how(), from_logits=True"],
    ["label_smoothing=0.1", "from_logits=True"],
    ["", "from_logits=True"],
  ])
    expectMend(binary(given), problems(binary(given)), [
      ["BinaryCrossentropy", `loss=nn.SparseCategoricalCrossentropy(${next}), metrics`],
    ]);
  // After a softmax the loss gets probabilities.
  const softmax = binary("from_logits=True, axis=1", 'nn.Dense(10, activation="softmax")');
  expectMend(softmax, problems(softmax), [
    ["from_logits", "loss=nn.SparseCategoricalCrossentropy(axis=1), metrics"],
  ]);
  // What nobody can read is left alone.
  assert.deepEqual(
    problems(binary("**options")).flatMap(({ mends }) => mends),
    [],
  );
});

test("numbers are predicted with a loss for numbers", () => {
  const brought = () => ({
    samples: { shape: [4], dtype: "float32" },
    targets: { shape: [], dtype: "float32", classes: 0 },
  });
  const text = program("nn.Dense(8), nn.Dense(3)", { data: 'load("mine")' });
  const known = readProgram(text, brought);
  const [{ words, mends }] = problemsOf(known, inferShapes(known));
  assert.equal(words, "The loss is for classes, but the data has numbers to predict.");
  const next = applyChanges(text, mends[0].changes);
  assert.match(next, /nn\.Dense\(1\)/);
  assert.match(next, /loss=nn\.MeanSquaredError\(\), metrics=\["mean_absolute_error"\]/);
  const again = readProgram(next, brought);
  assert.deepEqual(problemsOf(again, inferShapes(again)), []);
  const { settings, changes } = fitted(known, (each) => readProgram(each, brought));
  assert.equal(settings.length, 1);
  assert.equal(applyChanges(text, changes), next);
});

test("images without Flatten are put into one row", () => {
  const text = program('nn.Rescaling(1 / 255), nn.Dense(32, activation="relu"), nn.Dense(10)', {
    data: "mnist()",
  });
  const found = problems(text);
  assert.equal(found[0].card, "block-0-1");
  expectMend(text, found, [["", "nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(32"]]);
});

test("layers that do not fit are mended", () => {
  for (const [layers, data, after] of [
    [
      "nn.Conv2D(8, 3), nn.Flatten(), nn.Dense(10)",
      "mnist()",
      "nn.Reshape((28, 28, 1)), nn.Conv2D(8",
    ],
    [
      "nn.Flatten(), nn.Conv2D(8, 3), nn.Flatten(), nn.Dense(10)",
      "mnist()",
      "nn.Reshape((28, 28, 1)), nn.Conv2D(8",
    ],
    [
      "nn.Reshape((28, 28, 1)), nn.MaxPool2D(30), nn.Flatten(), nn.Dense(10)",
      "mnist()",
      'nn.MaxPool2D(30, padding="same")',
    ],
    ["nn.MultiHeadAttention(5), nn.Flatten(), nn.Dense(10)", "mnist()", "nn.MultiHeadAttention(4)"],
    ["nn.Dense(0), nn.Dense(2)", "spiral(100)", "nn.Dense(1), nn.Dense(2)"],
    ["pg.Input((3,)), nn.Dense(2)", "spiral(100)", "pg.Input((2,))"],
    ["nn.LSTM(8), nn.Dense(2)", "spiral(100)", "nn.Reshape((2, 1)), nn.LSTM(8)"],
  ]) {
    const text = program(layers, { data });
    expectMend(text, problems(text), [["", after]]);
  }
});

test("numbers of the training are in their bounds", () => {
  const text = program("nn.Dense(2)", { fit: ", batch_size=0, epochs=2.5", optimizer: "Adam(-1)" });
  const found = problems(text);
  assert.deepEqual(
    found.map(({ parameter }) => parameter),
    ["batch_size", "epochs", "learning_rate"],
  );
  assert.deepEqual(
    found.map(({ words }) => words.slice(0, 18)),
    ["Batch size must be", "Epochs must be a w", "The learning rate "],
  );
  assert.match(mended(text, found[0]), /batch_size=32/);
  assert.match(mended(text, found[1]), /epochs=1\b/);
  assert.match(mended(text, found[2]), /Adam\(0\.001\)/);
});

/** What a run's error is in Blocks. */
const ended = (text, error) => {
  const known = read(text);
  return runProblem(known, inferShapes(known), { message: "m", line: null, op: null, ...error });
};
const lineOf = (text, part) => text.slice(0, text.indexOf(part)).split("\n").length;

const ARRAYS = (layers, loss = "nn.SparseCategoricalCrossentropy(from_logits=True)") =>
  program(layers, { loss }).replace("pg.data.spiral(200)", "np.load(f), np.load(g)");

test("an error of a run belongs to the card of its line", () => {
  const text = ARRAYS("\n    nn.Dense(3),\n    nn.Dense(2, use_bias=odd()),\n");
  for (const [part, card] of [
    ["nn.Dense(3)", "block-0-0"],
    ["nn.Dense(2", "block-0-1"],
    ["model.compile", "training-0"],
    ["model.fit", "training-0"],
  ]) {
    const found = ended(text, { line: lineOf(text, part), message: "so it is" });
    assert.deepEqual(found, {
      card,
      words: "The run ended here: so it is",
      mends: [],
      ran: true,
    });
  }
  assert.equal(ended(text, { line: 1 }), null);
  const one = ARRAYS("nn.Dense(3), nn.Dense(2), nn.Dropout(0.5)");
  const line = lineOf(one, "nn.Dense(3)");
  assert.equal(ended(one, { line, op: "dense_2/matmul" }).card, "block-0-1");
  assert.equal(ended(one, { line, op: "dropout_1" }).card, "block-0-2");
  assert.equal(ended(one, { line, op: "other" }), null);
});

test("labels of a run ask for outputs", () => {
  const text = ARRAYS("nn.Dense(3), nn.Dense(2)");
  const values = { layer: "dense_2", outputs: 2, least: 0, most: 4 };
  const problem = { code: "labels-outside", values };
  const found = ended(text, { line: lineOf(text, "model.fit"), problem });
  assert.equal(found.card, "block-0-1");
  assert.equal(found.words, "The last layer has 2 outputs, the data has 5 classes.");
  assert.match(mended(text, found), /nn\.Dense\(3\), nn\.Dense\(5\)\]/);
  const fromOne = ended(text, {
    line: lineOf(text, "model.fit"),
    problem: { code: "labels-outside", values: { ...values, least: 1, most: 2 } },
  });
  assert.match(fromOne.words, /from 1 to 2/);
  assert.deepEqual(fromOne.mends, []);
});

test("targets of a run ask for another loss", () => {
  const shape = (layers, loss, values) => {
    const text = ARRAYS(layers, loss);
    const problem = { code: "targets-shape", values: { layer: "dense_1", axes: 1, ...values } };
    return [text, ended(text, { line: lineOf(text, "model.fit"), problem })];
  };
  let [text, found] = shape("nn.Dense(3)", undefined, { targets: 3, outputs: 3, classes: 0 });
  assert.match(mended(text, found), /loss=nn\.CategoricalCrossentropy\(from_logits=True\)/);
  [text, found] = shape('nn.Dense(3, activation="softmax")', '"categorical_crossentropy"', {
    targets: 1,
    outputs: 3,
    classes: 4,
  });
  assert.match(
    mended(text, found),
    /Dense\(4, activation="softmax"\).*loss=nn\.SparseCategoricalCrossentropy\(\)/s,
  );
  [text, found] = shape("nn.Dense(3)", '"mse"', { targets: 2, outputs: 3, classes: 0 });
  assert.equal(found.words, "The last layer has 3 outputs, but each sample has 2 targets.");
  assert.match(mended(text, found), /nn\.Dense\(2\)/);
});

test("numbers out of range in a run are mended where they are", () => {
  let text = ARRAYS("nn.Embedding(10, 4), nn.Flatten(), nn.Dense(2)");
  const fit = lineOf(text, "model.fit");
  const ids = { code: "ids-outside", values: { layer: "embedding_1", least: 0, most: 12 } };
  let found = ended(text, { line: lineOf(text, "nn.Embedding"), problem: ids });
  assert.equal(found.card, "block-0-0");
  assert.match(mended(text, found), /nn\.Embedding\(13, 4\)/);
  const loss = { code: "not-finite", values: { step: 3, rate: 0.01 } };
  found = ended(text, { line: fit, problem: loss });
  assert.deepEqual([found.card, found.parameter], ["training-0", "learning_rate"]);
  assert.match(mended(text, found), /Adam\(0\.001\)/);
  text = ARRAYS("nn.Dense(2)").replace("fit(x, y", "fit(x, y, batch_size=size");
  const count = { code: "count", values: { name: "batch_size", value: "0" } };
  found = ended(text, { line: lineOf(text, "model.fit"), problem: count });
  assert.deepEqual([found.parameter, found.mends], ["batch_size", []]);
});

test("the settings that suit a data set come from its example", () => {
  for (const [kind, name] of [
    ["spiral", "spiral"],
    ["moons", "first-program"],
    ["mnist", "mnist-mlp"],
    ["shapes", "coloured-shapes"],
  ]) {
    const known = read(example(name));
    assert.equal(known.data[0].kind, kind);
    assert.equal(suitedSettings(known, kind), null, name);
    const [{ optimizer, fit }] = known.trainings;
    assert.equal(SETS[kind].suited.optimizer, optimizer.kind);
    assert.equal(Number(SETS[kind].suited.epochs), argumentOf(fit, "epochs").value.value);
  }
});

test("settings of another data set are replaced, as far as the program states them", () => {
  const text = program("nn.Dense(2)", {
    fit: ", batch_size=size, epochs=3",
    optimizer: "SGD(0.1, momentum=0.9)",
  });
  const { settings, changes } = suitedSettings(read(text), "spiral");
  assert.deepEqual(settings, ["optimizer Adam", "learning rate 0.04", "epochs 45"]);
  const next = applyChanges(text, changes);
  assert.match(next, /pg\.optim\.Adam\(0\.04\)/);
  assert.match(next, /batch_size=size, epochs=45/);
  assert.equal(suitedSettings(read(next), "spiral"), null);
});
