import assert from "node:assert/strict";
import { test } from "node:test";
import {
  comparison,
  detailsUsed,
  devicesOf,
  runOptions,
  runsToKeep,
  ticks,
  titleOf,
} from "../../static/js/panels/lab/lab.js";
import { unusedColour } from "../../static/js/panels/runs/runs.js";

const CHOICES = {
  strategies: [
    { name: "single", title: "One device", about: "", uses: [] },
    {
      name: "sync",
      title: "Data parallel",
      about: "",
      uses: ["devices", "collective", "delays", "steps"],
    },
    {
      name: "pipeline",
      title: "Pipeline",
      about: "",
      uses: ["devices", "micro_batches", "schedule", "delays", "steps"],
    },
    { name: "async", title: "Asynchronous", about: "", uses: ["devices", "staleness", "steps"] },
  ],
  schedules: [
    { name: "1f1b", title: "1F1B", about: "", uses: [] },
    { name: "interleaved", title: "Interleaved", about: "", uses: ["chunks"] },
    { name: "bidirectional", title: "Bidirectional", about: "", uses: ["collective"] },
  ],
  collectives: [{ name: "auto", title: "Automatic", about: "" }],
};
const SETTINGS = {
  strategy: "sync",
  devices: 3,
  micro_batches: 4,
  schedule: "1f1b",
  collective: "auto",
  delays: [0, 25],
  steps: 200,
  chunks: 2,
  staleness: null,
  every: 8,
};

test("the options of a run leave out what its strategy does not use", () => {
  assert.deepEqual(runOptions(SETTINGS, CHOICES), {
    devices: 3,
    lab: { strategy: "sync", devices: 3, collective: "auto", delays: [0, 25, 0], steps: 200 },
  });
  assert.deepEqual(runOptions({ ...SETTINGS, strategy: "single", steps: 0 }, CHOICES), {
    lab: { strategy: "single" },
  });
});

test("an empty bound sets no limit", () => {
  const free = { ...SETTINGS, strategy: "async" };
  assert.deepEqual(runOptions(free, CHOICES).lab, { strategy: "async", devices: 3, steps: 200 });
  assert.equal(titleOf(free, CHOICES), "Asynchronous");
  const bound = { ...free, staleness: 0 };
  assert.equal(runOptions(bound, CHOICES).lab.staleness, 0);
  assert.equal(titleOf(bound, CHOICES), "Asynchronous, at most 0 ahead");
});

test("chunks are asked for where a schedule has them", () => {
  const pipeline = { ...SETTINGS, strategy: "pipeline", delays: [], schedule: "interleaved" };
  assert.equal(runOptions(pipeline, CHOICES).lab.chunks, 2);
  assert.equal(titleOf(pipeline, CHOICES), "Pipeline, Interleaved, 4 micro-batches, 2 chunks");
  assert.equal("chunks" in runOptions({ ...pipeline, schedule: "1f1b" }, CHOICES).lab, false);
});

test("a schedule with two streams has a collective", () => {
  const pipeline = { ...SETTINGS, strategy: "pipeline" };
  assert.ok(!detailsUsed(pipeline, CHOICES).has("collective"));
  assert.ok(detailsUsed({ ...pipeline, schedule: "bidirectional" }, CHOICES).has("collective"));
  assert.ok(
    !detailsUsed({ ...SETTINGS, schedule: "bidirectional", strategy: "single" }, CHOICES).has(
      "collective",
    ),
  );
});

test("runs are named after their differing options", () => {
  assert.equal(titleOf(SETTINGS, CHOICES), "Data parallel, 25 ms delay");
  assert.equal(titleOf({ ...SETTINGS, strategy: "single" }, CHOICES), "One device");
  assert.equal(
    titleOf({ ...SETTINGS, strategy: "pipeline", delays: [] }, CHOICES),
    "Pipeline, 1F1B, 4 micro-batches",
  );
  assert.equal(devicesOf({ ...SETTINGS, strategy: "single" }, CHOICES), 1);
});

test("runs are compared with the last one of the same program on one device of the same kind", () => {
  const run = (id, more) => ({
    id,
    program: "a",
    device: "cpu",
    devices: 1,
    isSingle: false,
    msPerStep: 10,
    ...more,
  });
  const runs = [
    run(1, { isSingle: true, msPerStep: 40 }),
    run(2, { isSingle: true, msPerStep: 20 }),
    run(3, { isSingle: true, program: "b" }),
    run(4, { isSingle: true, device: "gpu" }),
    run(5, { devices: 4 }),
    run(6, { program: "c" }),
  ];
  assert.deepEqual(comparison(runs[4], runs), { speedup: 2, efficiency: 0.5 });
  assert.deepEqual(comparison(runs[5], runs), { speedup: null, efficiency: null });
});

test("an axis has round times within its length", () => {
  assert.deepEqual(ticks(40, 4), [0, 10, 20, 30, 40]);
  assert.deepEqual(ticks(0.9, 6), [0, 0.2, 0.4, 0.6000000000000001, 0.8]);
  assert.deepEqual(ticks(0, 6), [0]);
});

test("of many runs the latest stay, and the one that the program's are compared with", () => {
  const run = (id, more) => ({
    id,
    colour: (id - 1) % 8,
    program: "a",
    isSingle: false,
    msPerStep: 10,
    ...more,
  });
  const few = [run(1), run(2)];
  assert.deepEqual(runsToKeep(few, "a"), few);
  const many = [1, 2, 3, 4, 5, 6, 7, 8].map((id) => run(id, { isSingle: id === 1 || id === 2 }));
  assert.deepEqual(
    runsToKeep(many, "a").map(({ id }) => id),
    [2, 3, 4, 5, 6, 7, 8],
  );
  assert.deepEqual(
    runsToKeep([...runsToKeep(many, "a"), run(9)], "a").map(({ id }) => id),
    [2, 4, 5, 6, 7, 8, 9],
  );
  assert.deepEqual(
    runsToKeep([...runsToKeep(many, "a"), run(9)], "b").map(({ id }) => id),
    [3, 4, 5, 6, 7, 8, 9],
  );
});

test("no two runs have one colour", () => {
  const colours = (...list) => list.map((colour) => ({ colour }));
  assert.equal(unusedColour([]), 0);
  assert.equal(unusedColour(colours(0, 2, 1)), 3);
  assert.equal(unusedColour(colours(1, 2)), 0);
});
