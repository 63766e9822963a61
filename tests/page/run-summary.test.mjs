import assert from "node:assert/strict";
import test from "node:test";
import { show } from "../../static/js/words/locale.js";
import { summaryOf } from "../../static/js/panels/runs/run-summary.js";

globalThis.document ??= { documentElement: {} };

const STEPS = Array.from({ length: 100 }, (_, at) => 9 * (at + 1));
const falling = STEPS.map((step) => 2.5 - step / 500);
const flat = STEPS.map((step) => (step < 400 ? 2.5 - step / 200 : 0.5));

const run = (fields = {}) => ({
  id: 1,
  number: 1,
  exampleId: "a",
  title: "A",
  code: "",
  device: "cpu",
  ranOn: "CPU",
  lab: null,
  state: "done",
  step: 900,
  totalSteps: 900,
  seconds: 4,
  loss: falling.at(-1),
  accuracy: 0.9,
  testAccuracy: 0.96,
  isPinned: false,
  colour: 0,
  steps: STEPS,
  losses: falling,
  parameters: 101_770,
  epochs: 3,
  trainAccuracy: 0.971,
  testLoss: 0.13,
  ...fields,
});

/** The numbers of a text, without the separators of thousands. */
const numbers = (text) =>
  (text.replaceAll(/(\d),(?=\d{3})/g, "$1").match(/\d+(\.\d+)?/g) ?? []).map(Number);

/** Runs, and the numbers in each of the five sentences. The loss falls from 1.06 at step 720 to 0.7: by 34%. */
const CASES = [
  [run(), [[101770, 900, 3, 4], [2.482, 0.7], [96.0, 25], [97.1], [34]]],
  [
    run({ losses: flat, loss: 0.5, trainAccuracy: 0.999, testAccuracy: 0.9 }),
    [[101770, 900, 3, 4], [2.455, 0.5], [90, 10], [99.9, 10 - 0.1], [0]],
  ],
  [
    run({ testAccuracy: 1, trainAccuracy: 1 }),
    [[101770, 900, 3, 4], [2.482, 0.7], [100], [100], [34]],
  ],
  [
    run({
      testAccuracy: null,
      trainAccuracy: null,
      parameters: undefined,
      state: "stopped",
      step: 450,
    }),
    [[450, 4], [2.482, 0.7], [0.13], [0.7, 0.13], [450, 900]],
  ],
  [
    run({ testAccuracy: null, testLoss: null, losses: STEPS.map((step) => 1 + step), loss: 901 }),
    [[101770, 900, 3, 4], [10, 901], [], [], []],
  ],
  [run({ testAccuracy: null, testLoss: null, loss: NaN }), [[101770, 900, 3, 4], [], [], [], []]],
  [
    run({ testAccuracy: null, testLoss: null, losses: STEPS.map(() => null), loss: null }),
    [[101770, 900, 3, 4], [], [], [], []],
  ],
  [
    run({ losses: STEPS.map(() => 0.7), loss: 0.69 }),
    [[101770, 900, 3, 4], [0.7, 0.69], [96, 25], [97.1], [1]],
  ],
];

for (const language of ["en", "zh-Hans"]) {
  test(`every number is one of the run, and no other is in it: ${language}`, async () => {
    await show(language);
    for (const [each, expected] of CASES) {
      const sentences = summaryOf(each);
      assert.equal(sentences.length, 5);
      sentences.forEach((sentence, at) => {
        const wanted = expected[at];
        assert.deepEqual(
          numbers(sentence).sort((a, b) => a - b),
          [...wanted].sort((a, b) => a - b),
          sentence,
        );
      });
    }
  });
}

test("the sentences describe the result of the run", async () => {
  await show("en");
  const told = (fields) => summaryOf(run(fields)).join(" ");
  assert.match(told(), /fell from .*: it learnt\..*learnt the rule.*more epochs may help/);
  assert.match(
    told({ trainAccuracy: 0.999, testAccuracy: 0.9 }),
    /by heart; more data or Dropout may help/,
  );
  assert.match(told({ losses: flat, loss: 0.5 }), /more epochs alone would do little/);
  const slow = STEPS.map((step) => 0.7 - 1e-4 * step); // 0.61 at the end, 0.87 of the first
  assert.match(
    told({ losses: slow, loss: slow.at(-1) }),
    /only 3%, although .*: a higher learning rate .* than more epochs/,
  );
  assert.doesNotMatch(told({ losses: slow, loss: slow.at(-1) }), /would do little/);
  assert.match(
    told({ losses: STEPS.map((step) => step), loss: 900 }),
    /grew .*it did not learn.*much lower learning rate/,
  );
  assert.match(told({ loss: Infinity }), /training was lost.*lower learning rate/);
  assert.match(told({ losses: STEPS.map(() => 0.7), loss: 0.69 }), /hardly learnt/);
  assert.match(
    told({ testAccuracy: null, testLoss: null }),
    /was not tested on data .* only a test on new data can tell/,
  );
  assert.match(told({ testAccuracy: 1 }), /all of them/);
  assert.match(told({ hasEarlierFits: true }), /last of several fits/);
  assert.doesNotMatch(told(), /several fits/);
});
