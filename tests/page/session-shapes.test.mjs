import assert from "node:assert/strict";
import test from "node:test";
import { Curves } from "../../static/js/pictures/curves.js";
import { SHAPES, SUMMARY } from "../../static/js/session/session-shapes.js";

const curves = new Curves();
for (let step = 1; step <= 9; step += 1) curves.add(step, 1 / step, step === 5 ? null : 0.5);
curves.mark(9, 0.25, 0.75);

const program = { exampleId: "a", source: "pass", began: 1 };
const progress = {
  epoch: 1,
  step: 2,
  loss: 0.5,
  accuracy: null,
  testLoss: null,
  testAccuracy: null,
  stepsPerSecond: null,
  seconds: 0,
  eta: null,
};
/** The beginning of a PNG, as far as it is checked. @param {number} width @param {number} height */
function png(width, height) {
  const bytes = Uint8Array.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR        ", (each) =>
    each.charCodeAt(0),
  );
  new DataView(bytes.buffer).setUint32(16, width);
  new DataView(bytes.buffer).setUint32(20, height);
  return bytes;
}

const SAMPLES = {
  code: "print()",
  choices: {
    exampleId: "a",
    device: "cpu",
    view: "lab",
    pictures: [
      ["spiral", "confusion"],
      ["", "graph"],
    ],
    graphColours: "phase",
    lab: {
      strategy: "single",
      devices: 2,
      micro_batches: 4,
      schedule: "1f1b",
      chunks: 2,
      collective: "auto",
      staleness: null,
      every: 8,
      delays: [0],
      steps: 200,
    },
  },
  run: {
    state: "done",
    program,
    fit: null,
    progress,
    epochs: [],
    error: null,
    branch: { began: 1, number: 2, step: 7 },
  },
  curves: curves.save(),
  losses: {
    settings: [{ step: 3, name: "learning rate", before: 0.1, after: 0.01 }],
    landmarks: [
      [1, 2.5],
      [2, 2],
    ],
    shared: {
      version: 1,
      exampleId: "a",
      title: "A",
      code: "pass",
      device: "auto",
      view: "graph",
      lab: null,
      expected: { losses: [[1, 2.5]], steps: 1, device: "cpu:0" },
    },
  },
  locks: [
    {
      exampleId: "spiral",
      lines: [
        [1, 2],
        [4, 4],
      ],
      isHeld: true,
    },
  ],
  runs: [
    {
      id: 1,
      number: 1,
      exampleId: "a",
      title: "A",
      code: "pass",
      device: "auto",
      ranOn: "CPU",
      lab: null,
      state: "done",
      step: 1,
      totalSteps: 2,
      seconds: 0.5,
      loss: 0.5,
      accuracy: null,
      testAccuracy: null,
      isPinned: true,
      colour: 7,
      steps: [1],
      losses: [0.5],
      settings: [],
      branch: { number: 2, step: 7 },
    },
  ],
  output: [
    { text: "a", stream: "stdout" },
    {
      text: "A picture",
      stream: "stdout",
      figure: {
        shows: "pictures",
        title: "A",
        count: 1,
        height: 1,
        width: 2,
        channels: 3,
        scale: "colour",
        low: 0,
        high: 1,
        note: "",
        pixels: new Uint8Array(6),
      },
    },
    {
      text: "A plot",
      stream: "stdout",
      figure: {
        shows: "plot",
        title: "",
        style: "line",
        x_label: "",
        y_label: "",
        series: [{ label: "", x: new Uint8Array(8), y: new Uint8Array(8), total: 1 }],
      },
    },
    {
      text: "An image",
      stream: "stdout",
      figure: {
        shows: "image",
        title: "",
        width: 3,
        height: 2,
        axes: [
          {
            title: "",
            x_label: "",
            y_label: "",
            labels: ["a"],
            lines: 1,
            images: 0,
            points: 0,
            shapes: 0,
          },
        ],
        png: png(6, 4),
      },
    },
  ],
  graph: {
    name: "g",
    nodes: [
      {
        name: "n",
        op: "add",
        scope: "",
        phase: "forward",
        device: null,
        shape: [null, 2],
        dtype: "float32",
        line: 1,
        attrs: {},
      },
    ],
    edges: [{ from: "n", to: "n", output: 0, control: false }],
  },
  lab: [],
  checkpoint: {
    bytes: new Uint8Array(3),
    step: 1,
    totalSteps: 2,
    epoch: 1,
    epochs: 1,
    parameters: 3,
    finished: false,
    at: 1,
    program,
    options: {},
  },
};

/** Fields that records of earlier pages do not have. */
const ADDED = new Set(["settings", "branch", "pictures"]);

test("every part accepts what the page saves", () => {
  assert.deepEqual(Object.keys(SAMPLES).sort(), Object.keys(SHAPES).sort());
  for (const [name, value] of Object.entries(SAMPLES))
    assert.equal(SHAPES[name](value), true, name);
});

test("every part refuses a value of another type anywhere in it", () => {
  const odd = [undefined, {}, [{}], "odd", -1.5, true];
  let tried = 0;
  for (const [name, sample] of Object.entries(SAMPLES)) {
    for (const wrong of [...odd, null]) {
      const mayBe = (name === "graph" && wrong === null) || (name === "code" && wrong === "odd");
      if (!mayBe) assert.equal(SHAPES[name](wrong), false, `${name}: ${wrong}`);
    }
    if (typeof sample !== "object") continue;
    for (const field of Object.keys(sample)) {
      const without = { ...sample };
      delete without[field];
      if (!Array.isArray(sample) && !ADDED.has(field))
        assert.equal(SHAPES[name](without), false, `${name}.${field}`);
      assert.equal(SHAPES[name]({ ...sample, [field]: Symbol.iterator }), false);
      tried += 1;
    }
  }
  assert.ok(tried > 20);
});

test("an edge to a missing node, and columns of different lengths, are refused", () => {
  const edge = { from: "n", to: "missing", output: 0, control: false };
  assert.equal(SHAPES.graph({ ...SAMPLES.graph, edges: [edge] }), false);
  const short = { ...SAMPLES.curves, steps: new Float64Array(2) };
  assert.equal(SHAPES.curves(short), false);
});

test("a summary of another version is refused", () => {
  const summary = {
    id: "a",
    version: 1,
    created: 1,
    saved: 2,
    touched: true,
    exampleId: "a",
    title: "A",
    edited: false,
    state: "done",
    step: 1,
    totalSteps: 2,
  };
  assert.equal(SUMMARY(summary), true, "older pages have saved no name");
  assert.equal(SUMMARY({ ...summary, name: "My net" }), true);
  assert.equal(SUMMARY({ ...summary, name: null }), false);
  assert.equal(SUMMARY({ ...summary, version: 2 }), false);
});

test("curves come back as they were, and continue as if nothing had happened", () => {
  const [before, after] = [new Curves(), new Curves()];
  for (let step = 1; step <= 7000; step += 1)
    before.add(step, Math.sin(step), step % 3 ? 0.5 : null);
  before.mark(7000, 0.5, 0.25);
  after.load(structuredClone(before.save()));
  for (const each of [before, after]) {
    assert.equal(each.steps.at(-1), 7000);
    for (let step = 7001; step <= 7400; step += 1) each.add(step, 1 / step, null);
  }
  assert.deepEqual(after.save(), before.save());
});

test("rewinding drops the points after a step", () => {
  const curve = new Curves();
  for (let step = 1; step <= 20; step += 1) curve.add(step, step, null);
  curve.rewind(12);
  curve.add(13, 1, null);
  assert.deepEqual(
    curve.steps,
    Array.from({ length: 13 }, (_, index) => index + 1),
  );
  assert.equal(curve.series.loss.length, 13);
  curve.rewind(100);
  assert.equal(curve.steps.length, 13);
});

test("a rewound curve continues as if it had never been ahead", () => {
  const [ahead, unbroken] = [new Curves(), new Curves()];
  const add = (curve, step) => curve.add(step, Math.sin(step), step % 3 ? 1 / step : null);
  for (let step = 1; step <= 90; step += 1) add(ahead, step);
  ahead.rewind(70);
  for (let step = 71; step <= 120; step += 1) add(ahead, step);
  for (let step = 1; step <= 120; step += 1) add(unbroken, step);
  assert.deepEqual(ahead.save(), unbroken.save());
  ahead.rewind(0);
  ahead.add(1, 3, null);
  assert.deepEqual(ahead.series.trendLoss, [3]);
});

test("a picture without all its bytes, and a series with more x than y, are refused", () => {
  const [, picture, plot, image] = SAMPLES.output;
  assert.equal(SHAPES.output([picture, plot, image]), true);
  for (const broken of [
    new Uint8Array(40),
    png(6, 4).subarray(0, 20),
    png(60_000, 4000),
    png(0, 4),
  ])
    assert.equal(SHAPES.output([{ ...image, figure: { ...image.figure, png: broken } }]), false);
  assert.equal(
    SHAPES.output([{ ...picture, figure: { ...picture.figure, pixels: new Uint8Array(5) } }]),
    false,
  );
  const series = [{ ...plot.figure.series[0], y: new Uint8Array(0) }];
  assert.equal(SHAPES.output([{ ...plot, figure: { ...plot.figure, series } }]), false);
});
