import assert from "node:assert/strict";
import test from "node:test";
import { receive } from "../../static/js/engine/engine-events.js";
import { PARTS, isOfRun } from "../../static/js/session/session-parts.js";
import { SHAPES } from "../../static/js/session/session-shapes.js";
import * as store from "../../static/js/state/store.js";

globalThis.navigator ??= { hardwareConcurrency: 4 };

const FIT = {
  kind: "fit_begin", done: 0, epochs: 5, steps_per_epoch: 100, total_steps: 500, batch_size: 10, metrics: [], device: "cpu",
  adapter: null, parameters: 3,
}; // prettier-ignore

function runBegins() {
  store.clearShown();
  store.executed.value = { exampleId: "spiral", source: "", began: 7 };
  store.runState.value = "running";
}

/** @param {Record<string, any>} [fit] */
const fitBegins = (fit) => receive(/** @type {any} */ ({ ...FIT, ...fit }));

/** The parts of a session as the page saves them at a step of the fit. */
function savedAt(step) {
  const { steps_per_epoch: perEpoch = 0 } = store.fit.value ?? {};
  for (let each = store.progress.value.step + 1; each <= step; each += 1) {
    store.curves.add(each, 1 / each, 0.5);
    store.landmarks.value = [...store.landmarks.value, [each, 1 / each]];
  }
  if (step > 0) store.showNumbersAt(step, perEpoch);
  const { run, curves, losses } = PARTS;
  return structuredClone({
    run: run.capture(),
    curves: curves.capture(),
    losses: losses.capture(),
  });
}

/** The step that is shown, with the ends of the curves and of the losses. */
function restored(saved) {
  store.clearShown();
  for (const name of /** @type {("run" | "curves" | "losses")[]} */ (Object.keys(saved))) {
    assert.ok(SHAPES[name](saved[name]));
    PARTS[name].restore(saved[name]);
  }
  const { curves, landmarks, progress } = store;
  return [progress.value.step, curves.steps.at(-1) ?? 0, landmarks.value.at(-1)?.[0] ?? 0];
}

test("after a crash the numbers are taken from the end of the curves", () => {
  runBegins();
  fitBegins();
  const [first, middle, last] = [0, 130, 240].map(savedAt);
  for (const { run } of [first, middle, last]) {
    assert.deepEqual(restored({ ...last, run }), [240, 240, 240]);
    const { epoch, loss, accuracy } = store.progress.value;
    assert.deepEqual([epoch, loss, accuracy], [3, 1 / 240, 0.5]);
  }
});

test("numbers that are newer than the curves stay", () => {
  runBegins();
  fitBegins();
  const { curves } = savedAt(130);
  assert.deepEqual(restored({ ...savedAt(240), curves }), [240, 130, 240]);
});

for (const [name, next] of [
  ["another run", runBegins],
  ["another fit of the run", () => {}],
])
  // prettier-ignore
  test(`the curves and losses of ${name} are not shown`, () => {
    runBegins();
    fitBegins();
    const { curves, losses } = savedAt(240);
    next();
    fitBegins();
    for (const step of [0, 5]) {
      const { run } = savedAt(step);
      assert.deepEqual(restored({ run, curves, losses }), [step, 0, 0]);
    }
  });

test("output and graph have the run to which they belong", () => {
  runBegins();
  receive(/** @type {any} */ ({ kind: "graph", graph: { nodes: [], edges: [] } }));
  const { run, output, graph } = PARTS;
  const record = (/** @type {any} */ part) =>
    structuredClone({ value: part.capture(), began: part.began?.() });
  const former = { run: record(run), output: record(output), graph: record(graph) };
  store.executed.value = { exampleId: "spiral", source: "", began: 8 }; // its graph is to come
  const next = { run: record(run), output: record(output), graph: record(graph) };
  for (const [runOf, recordOf, expected] of /** @type {const} */ ([
    [former.run, former.output, true],
    [former.run, former.graph, true],
    [next.run, next.output, true],
    [next.run, former.output, false],
    [former.run, next.output, false],
    [next.run, next.graph, false],
    [undefined, former.output, true],
    [next.run, { value: [] }, true],
  ]))
    assert.equal(isOfRun(recordOf, /** @type {any} */ (runOf)), expected);
  run.restore(former.run.value);
  graph.restore(former.graph.value);
  assert.equal(isOfRun(record(graph), former.run), true);
});

test("curves and losses are shown without a record of their run", () => {
  runBegins();
  fitBegins();
  const { curves, losses } = savedAt(240);
  assert.deepEqual(restored({ curves, losses }), [0, 240, 240]);
});

test("a fit that resumes shares the curves and losses up to its first step", () => {
  runBegins();
  fitBegins();
  const { curves, losses } = savedAt(240);
  fitBegins({ done: 200 });
  assert.deepEqual(restored({ ...savedAt(205), curves, losses }), [205, 200, 200]);
});

test("a run without epochs of a known length has a finite epoch", () => {
  runBegins();
  fitBegins({ steps_per_epoch: 0 });
  const { run } = savedAt(0);
  restored({ ...savedAt(240), run });
  assert.equal(store.progress.value.epoch, 0);
});

test("settings that were out of bounds are saved as they were corrected", () => {
  const choices = PARTS.choices.capture();
  const kept = { bytes: new Uint8Array(1), program: {}, options: { devices: 1e9, lab: {} } };
  const damaged = {
    choices: { ...choices, lab: { ...choices.lab, devices: 1e9 } },
    checkpoint: kept,
  };
  for (const [name, value] of Object.entries(damaged)) {
    assert.equal(PARTS[name].restore(value), true, name);
    assert.equal(PARTS[name].restore(PARTS[name].capture()), false, name);
  }
});
