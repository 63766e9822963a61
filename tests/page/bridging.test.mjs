import assert from "node:assert/strict";
import test from "node:test";
import {
  changed,
  findProblems,
  fixTogether,
  translate,
} from "../../static/js/language/bridging.js";
import { Program } from "../../static/js/language/program.js";
import { Translator } from "../../static/js/language/translator.js";
import { file, names, parse } from "./language.mjs";

const translator = new Translator(file.bridge, names);
const START = "import playgrad as pg\nfrom playgrad import nn\n";

/** What is said about the code after the start. */
const problems = (code) =>
  findProblems(new Program(START + code, parse(START + code), names, translator), translator);
const messages = (code) => problems(code).map(({ message }) => message);
/** The code after all rounds. */
const all = (code) =>
  translate(START + code, parse, names, translator)
    .reduce((text, changes) => changed(text, changes), START + code)
    .slice(START.length);
const fixed = (code) => changed(START + code, fixTogether(problems(code))).slice(START.length);

test("a program's own names are left alone", () => {
  for (const code of [
    "layers = [3, 4]\nprint(layers.count(3))",
    "def build(layers):\n    return layers.Dense(3)",
    "for F in range(3):\n    print(F.real)",
    "import keras_core_of_mine as keras\nkeras.layers.Dense(3)",
    "class Net:\n    def save(self): pass\nNet().save()",
    "class Scale(nn.Layer):\n    pass\nScale(input_shape=(3,))",
    "model = load()\nmodel.save('x')",
    "import os\nos.path.join('a')",
    "def f(**options):\n    return pg.Session(**options)",
    "nn.LambdaCallback(on_epoch_end=print)",
    "from playgrad.nn.losses import Loss\nnn.metrics.get('acc')",
  ])
    assert.deepEqual(messages(code), [], code);
});

test("misspelt names and arguments are corrected or reported", () => {
  assert.equal(fixed("nn.Dence(3)"), "nn.Dense(3)");
  assert.equal(fixed("pg.sequential([])"), "pg.Sequential([])");
  assert.equal(fixed("nn.Dense(3, activtion='relu')"), "nn.Dense(3, activation='relu')");
  assert.deepEqual(messages("nn.Unheard(3)"), ["`nn.Unheard` is not in playgrad."]);
  assert.match(
    messages("nn.Dense(3, flavour=2)")[0],
    /`flavour` is not an argument of `nn\.Dense`/,
  );
});

test("arguments are removed with their comma", () => {
  assert.equal(fixed("nn.Dense(3, input_shape=(2,))"), "nn.Dense(3)");
  assert.equal(fixed("nn.Dense(input_shape=(2,), units=3)"), "nn.Dense(units=3)");
  assert.equal(fixed("nn.Flatten(input_shape=(2,))"), "nn.Flatten()");
  assert.equal(
    fixed("pg.Sequential([nn.Dense(3, input_dim=5)])"),
    "pg.Sequential([pg.Input((5,)), nn.Dense(3)])",
  );
});

test("padding in numbers becomes a name, where that is the same", () => {
  assert.equal(fixed("nn.Conv2D(8, 3, padding=1)"), 'nn.Conv2D(8, 3, padding="same")');
  assert.equal(
    fixed("nn.Conv2D(8, kernel_size=(5, 5), strides=1, padding=(2, 2))"),
    'nn.Conv2D(8, kernel_size=(5, 5), strides=1, padding="same")',
  );
  assert.equal(fixed("nn.Conv1D(8, 7, 2, 0)"), 'nn.Conv1D(8, 7, 2, "valid")');
  for (const other of [
    "8, 3, 2, 1",
    "8, 5, padding=1",
    "8, (3, 5), padding=1",
    "8, size, padding=1",
  ]) {
    assert.equal(fixed(`nn.Conv2D(${other})`), `nn.Conv2D(${other})`);
    assert.match(
      messages(`nn.Conv2D(${other})`)[0],
      /padding is "valid" or "same".*`nn\.ZeroPadding2D\(1\)` before the layer/,
    );
  }
  for (const other of ["8, 3, padding='same'", "8, 3, padding=p", "8, 3", "*sizes, padding=1"])
    assert.deepEqual(messages(`nn.Conv2D(${other})`), []);
  const torch = (text) =>
    translate(START + text, parse, names, translator)
      .reduce((code, changes) => changed(code, changes), START + text)
      .slice(START.length);
  assert.equal(
    torch("nn.Conv2d(1, 32, kernel_size=3, padding=1)"),
    'nn.Conv2D(32, kernel_size=3, padding="same", data_format="channels_first")',
  );
  assert.equal(
    torch("nn.Conv2d(1, 32, 3, 1, 1)"),
    'nn.Conv2D(32, 3, 1, "same", data_format="channels_first")',
  );
  assert.equal(
    torch("torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, 2, 1))"),
    'pg.Sequential([nn.ZeroPadding2D(1, data_format="channels_first"), ' +
      'nn.Conv2D(8, 3, 2, "valid", data_format="channels_first")])',
  );
});

test("numbers with any number of blanks between them are read", () => {
  const blanks = " ".repeat(100_000);
  assert.equal(
    fixed(`nn.Conv2D(8, 3, padding=(1,${blanks}1,${blanks}))`),
    'nn.Conv2D(8, 3, padding="same")',
  );
  assert.equal(
    fixed(`pg.Sequential([nn.Dense(3, batch_input_shape=(None,${blanks}5${blanks},${blanks}))])`),
    `pg.Sequential([pg.Input((5${blanks},)), nn.Dense(3)])`,
  );
  assert.equal(
    fixed(`pg.Sequential([nn.Dense(3, batch_input_shape=(None, 4,${blanks}5))])`),
    `pg.Sequential([pg.Input((4,${blanks}5)), nn.Dense(3)])`,
  );
});

test("statements that are not needed are removed", () => {
  assert.equal(
    fixed("model = pg.Sequential([])\nmodel.eval()\nx = 1\n"),
    "model = pg.Sequential([])\nx = 1\n",
  );
  assert.equal(
    fixed("model = pg.Sequential([])\nif 1:\n    model.eval()\n"),
    "model = pg.Sequential([])\nif 1:\n    pass\n",
  );
});

test("arguments of PyTorch find their places", () => {
  assert.equal(fixed("nn.Linear(784, 10)"), "nn.Dense(10)");
  assert.equal(fixed("nn.Linear(784, 10, False)"), "nn.Dense(10, use_bias=False)");
  assert.equal(fixed("nn.Linear(in_features=784, out_features=10)"), "nn.Dense(units=10)");
  assert.equal(fixed("nn.BatchNorm2d(8)"), "nn.BatchNormalization(axis=1)");
  assert.equal(
    fixed("pg.Sequential(nn.Dense(3), nn.Dense(2))"),
    "pg.Sequential([nn.Dense(3), nn.Dense(2)])",
  );
});

test("imports are added where they belong", () => {
  const add = (code) => {
    let text = code;
    for (const round of translate(text, parse, names, translator)) text = changed(text, round);
    return text;
  };
  const written = "import playgrad as pg\nfrom playgrad import nn\n";
  assert.equal(add("layers.Dense(pg.relu)"), "from playgrad import nn\nnn.Dense(pg.relu)");
  assert.equal(
    add("import os\nkeras.Sequential([layers.Dense(3)])"),
    "import playgrad as pg\nimport os\nfrom playgrad import nn\npg.Sequential([nn.Dense(3)])",
  );
  assert.equal(
    add('"""Text."""\nkeras.Sequential([layers.Dense(3)])'),
    `"""Text."""\n${written}pg.Sequential([nn.Dense(3)])`,
  );
  assert.equal(
    add(
      "from __future__ import annotations\nfrom tensorflow import keras\nkeras.Sequential([keras.layers.Dense(3)])\n",
    ),
    `from __future__ import annotations\n${written}pg.Sequential([nn.Dense(3)])\n`,
  );
});

test("arguments of operations keep their meaning", () => {
  assert.equal(fixed("y = torch.cat([a, b], dim=1)"), "y = pg.concatenate([a, b], axis=1)");
  assert.equal(fixed("y = pg.concatenate([a, b], dim=1)"), "y = pg.concatenate([a, b], axis=1)");
  assert.equal(
    fixed("y = pg.reduce_sum(a, reduction_indices=[1], keep_dims=True)"),
    "y = pg.reduce_sum(a, axis=[1], keepdims=True)",
  );
  assert.equal(fixed("y = tf.nn.dropout(a, keep_prob=0.8)"), "y = pg.dropout(a, 1 - 0.8)");
  assert.equal(fixed("y = tf.nn.dropout(a, 0.2)"), "y = pg.dropout(a, 0.2)");
});

test("arrays of PyTorch become arrays of NumPy", () => {
  const array = (code) => all(`import numpy as np\n${code}`).slice("import numpy as np\n".length);
  assert.equal(array("y = torch.zeros(2, 3)"), 'y = np.zeros((2, 3), "float32")');
  assert.equal(array("y = torch.ones((2, 3), dtype=d)"), "y = np.ones((2, 3), d)");
  assert.equal(
    array("y = torch.randn(n)"),
    'y = np.random.standard_normal((n,)).astype("float32")',
  );
  assert.equal(array("y = torch.randint(0, 9, (4,))"), "y = np.random.randint(0, 9, (4,))");
  assert.equal(array("y = torch.randint(9, (4,))"), "y = np.random.randint(9, size=(4,))");
  assert.equal(
    array("y = torch.zeros(3, requires_grad=True)"),
    'y = pg.Variable(np.zeros((3,), "float32"))',
  );
});

test("a loop of PyTorch records a tape", () => {
  const loop = `import torch
from torch import nn, optim
net = nn.Sequential(nn.Linear(2, 1))
measure = nn.MSELoss()
optimizer = optim.Adam(net.parameters(), lr=0.1, betas=(0.5, 0.9))
for x, y in data:
    optimizer.zero_grad()
    out = net(x)
    loss = measure(out, y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
    optimizer.step()
    print(loss.item())
`;
  assert.equal(
    all(loop),
    `net = pg.Sequential([pg.nn.Dense(1)])
measure = pg.nn.MeanSquaredError()
optimizer = pg.optim.Adam(learning_rate=0.1, beta_1=0.5, beta_2=0.9, global_clipnorm=2.0)
for x, y in data:
    with pg.GradientTape() as tape:
        out = net(x, training=True)
        loss = measure(y_true=y, y_pred=out)
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    print(loss.item())
`,
  );
});

test("a tape records what the loss depends on, and no more", () => {
  const loop = `import torch
model = torch.nn.Sequential(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    print(step)
    a, b = batch(step)

    loss = (model(a) - b).pow(2).mean()
    (2 * loss).backward()
    optimizer.step()
`;
  assert.match(
    all(loop),
    /    print\(step\)\n    with pg\.GradientTape\(\) as tape:\n        a, b = batch\(step\)\n\n        loss = \(\(?model\(a, training=True\) - b\)?\) \*\* 2\)?\.mean\(\)\n/,
  );
});

test("methods of arrays and of other modules are left alone", () => {
  for (const code of ["import numpy as np\nx = np.round(3.2)", "import torch\nx = my.size"])
    assert.ok(!messages(code).some((each) => /round|size/.test(each)), code);
  assert.deepEqual(messages("x = a.view(3)\ny = a.sum(dim=1)"), [], "without PyTorch");
});

test("fixes made together drop no argument that may matter", () => {
  const [problem] = problems("y = pg.relu(a, flavour=2)");
  assert.ok(problem.changes?.length, "one by one it is offered");
  assert.equal(fixed("y = pg.relu(a, flavour=2)"), "y = pg.relu(a, flavour=2)");
  assert.equal(fixed("y = pg.zeros((2,), requires_grad=True)"), "y = pg.zeros((2,))");
});
