import assert from "node:assert/strict";
import test from "node:test";
import { changesInWords, diffLines } from "../../static/js/editor/code-diff.js";
import { titleIn } from "../../static/js/gallery/program-title.js";
import {
  changesSince,
  csv,
  sortedBy,
  thinned,
  titleOf,
  unusedColour,
  withRun,
} from "../../static/js/panels/runs/runs.js";

const CODE = `import playgrad as pg
model = pg.Sequential([
    nn.Dense(128, activation="relu"),  # try 32
    nn.Dense(10),
])
model.compile(optimizer=pg.optim.Adam(learning_rate=0.003))
`;

/** @param {object} [fields] */
const run = (fields = {}) => ({
  id: 1,
  number: 1,
  exampleId: "a",
  title: "A",
  code: CODE,
  device: "auto",
  ranOn: "CPU",
  lab: null,
  state: "done",
  step: 9,
  totalSteps: 9,
  seconds: 1,
  loss: 0.5,
  accuracy: null,
  testAccuracy: null,
  isPinned: false,
  colour: 0,
  steps: [],
  losses: [],
  ...fields,
});

test("a program names itself by its docstring", () => {
  for (const [source, title] of [
    ['"""A net.\n\nMore."""\nx = 1', "A net"],
    ["\'\'\'A net\'\'\'", "A net"],
    ['# mine\n\nr"""A net.  """', "A net"],
    ['"""\nA net.\n"""', "A net"],
    ["x = 1", ""],
    ['x = """no"""', ""],
    ["", ""],
    ['""""""', ""],
  ])
    assert.equal(titleIn(source), title, source);
  assert.equal(titleOf(run({ title: "" })), "Your program");
  assert.equal(titleOf(run({ isEdited: true })), "A, edited");
});

test("a diff contains both programs", () => {
  const texts = ["", "a", "a\nb\nc", "b\nc\nd", "x\na\nb\nc", CODE, CODE.replace("128", "64")];
  for (const before of texts) {
    for (const after of texts) {
      const lines = diffLines(before, after);
      assert.equal(
        lines
          .filter(({ kind }) => kind !== "added")
          .map(({ text }) => text)
          .join("\n"),
        before,
      );
      assert.equal(
        lines
          .filter(({ kind }) => kind !== "removed")
          .map(({ text }) => text)
          .join("\n"),
        after,
      );
    }
  }
  assert.deepEqual(
    diffLines("a\nb\nc", "a\nc\nd").map(({ kind }) => kind),
    ["same", "removed", "same", "added"],
  );
});

test("changes of values are told by their names", () => {
  const told = (old, now) => changesInWords(CODE, CODE.replace(old, now));
  assert.deepEqual(told("0.003", "0.01"), ["learning_rate 0.003 → 0.01"]);
  assert.deepEqual(told("128", "64"), ["Dense 128 → 64"]);
  assert.deepEqual(told("relu", "tanh"), ['activation "relu" → "tanh"']);
  assert.deepEqual(told("    nn.Dense(10),\n", "    nn.Dropout(0.2),\n    nn.Dense(10),\n"), [
    "+ nn.Dropout(0.2),",
  ]);
  assert.deepEqual(told("try 32", "or 64"), [], "a comment is no change of the network");
  assert.deepEqual(told("pg.optim.Adam", "pg.optim.SGD").length, 1);
  assert.deepEqual(changesInWords(CODE, CODE), []);
});

test("settings count as changes", () => {
  const lab = { strategy: "sync", devices: 2, delays: [] };
  assert.deepEqual(changesSince(undefined, run()), []);
  assert.deepEqual(changesSince(run(), run({ device: "gpu" })), ["device auto → gpu"]);
  assert.deepEqual(changesSince(run(), run({ lab })), ["in the Lab"]);
  assert.deepEqual(changesSince(run({ lab }), run({ lab: { ...lab, devices: 4 } })), [
    "devices 2 → 4",
  ]);
  assert.deepEqual(changesSince(run(), run({ exampleId: "b", title: "B" })), [
    "another program: B",
  ]);
});

test("changes during training are reported, also for the first run", () => {
  const change = (before, after, step) => ({ name: "learning rate", before, after, step });
  const settings = [change(0.0199999995529652, 0.001, 40), change(0.001, 0.05, 90)];
  assert.deepEqual(changesSince(undefined, run({ settings })), [
    "learning rate 0.02 → 0.001 → 0.05 while training",
  ]);
  const many = [...settings, change(0.05, 0.1, 95), change(0.1, 0.2, 99)];
  assert.deepEqual(changesSince(run({ device: "cpu" }), run({ settings: many })), [
    "device cpu → auto",
    "learning rate 0.02 → … → 0.2 while training",
  ]);
  assert.match(csv([run({ settings })]), /while training/);
});

test("the oldest runs give way, but not pinned ones", () => {
  let runs = [run({ id: 1, number: 1, isPinned: true })];
  for (let number = 2; number <= 50; number += 1) runs = withRun(runs, run({ id: number, number }));
  assert.equal(runs.length, 31);
  assert.deepEqual([runs[0].number, runs[1].number, runs.at(-1)?.number], [1, 21, 50]);
  const again = withRun(runs, run({ id: 30, number: 30, step: 99 }));
  assert.equal(again.length, 31);
  assert.equal(again.find(({ id }) => id === 30)?.step, 99);
});

test("runs sort by a column, those without a number last", () => {
  const runs = [
    run({ number: 1, loss: 0.5 }),
    run({ number: 2, loss: null }),
    run({ number: 3, loss: 0.1 }),
  ];
  assert.deepEqual(
    sortedBy(runs, "loss", false).map(({ number }) => number),
    [3, 1, 2],
  );
  assert.deepEqual(
    sortedBy(runs, "loss", true).map(({ number }) => number),
    [1, 3, 2],
  );
});

test("a thinned curve keeps its ends", () => {
  const steps = Array.from({ length: 1000 }, (_, index) => index + 1);
  const { steps: kept, losses } = thinned(steps, steps);
  assert.ok(kept.length <= 241);
  assert.deepEqual([kept[0], kept.at(-1)], [1, 1000]);
  assert.deepEqual(losses, kept);
});

test("colours repeat as late as possible", () => {
  assert.equal(unusedColour([0, 1, 2].map((colour) => run({ colour }))), 3);
  assert.equal(unusedColour([0, 1, 2, 3, 4, 5, 6, 7].map((colour) => run({ colour }))), 0);
});

test("CSV quotes cells with special characters", () => {
  const [head, first, second] = csv([
    run({ title: 'A, "B"' }),
    run({ number: 2, code: CODE.replace("128", "64") }),
  ]).split("\r\n");
  assert.match(head, /^began,number,title,.*,changes$/);
  assert.match(first, /"A, ""B"""/);
  assert.match(second, /Dense 128 → 64$/);
});

test("runs of players have their last rating, and others have none", () => {
  const others = [run(), run({ number: 2 })];
  assert.ok(!csv(others).includes("elo"));
  const runs = [run({ elo: -12.5 }), run({ number: 2 }), run({ number: 3, elo: 80 })];
  const [titles, ...lines] = csv(runs)
    .trim()
    .split("\r\n")
    .map((line) => line.split(","));
  const at = titles.indexOf("elo");
  assert.deepEqual(
    lines.map((cells) => cells[at]),
    ["-12.5", "", "80"],
  );
  const order = sortedBy(runs, "elo", true).map(({ number }) => number);
  assert.deepEqual(order, [3, 1, 2]);
});
