/** Values as long as links and sessions may have them: handled in time that grows with their length. Else these tests do not end. */

import assert from "node:assert/strict";
import test from "node:test";
import { MOST } from "../../static/js/state/bounds.js";
import { changesInWords } from "../../static/js/editor/code-diff.js";
import { relocate } from "../../static/js/editor/line-locks.js";
import { loadedModels, loadedNames } from "../../static/js/own-data/data-names.js";
import { titleIn } from "../../static/js/gallery/program-title.js";
import { report } from "../../static/js/panels/runs/report.js";
import { MOST_PINNED, changesSince, withRun } from "../../static/js/panels/runs/runs.js";
import { historyOf } from "../../static/js/session/checkpoint-history.js";
import { SHAPES } from "../../static/js/session/session-shapes.js";
import { duringTraining } from "../../static/js/state/setting-changes.js";

const LONG = 1_000_000;

/** @param {object} [fields] */
const run = (fields = {}) => ({
  id: 1, number: 1, exampleId: "a", title: "A", code: "", device: "auto", ranOn: "CPU", lab: null, state: "done",
  step: 1, totalSteps: 1, seconds: 1, loss: 1, accuracy: null, testAccuracy: null, isPinned: false, colour: 0,
  steps: [1], losses: [1], ...fields,
}); // prettier-ignore

test("programs with long words, blanks and comments are compared in words of readable length", () => {
  const word = "a1".repeat(LONG / 2);
  for (const text of [word, " ".repeat(LONG), `"${word}" = (`, " # a".repeat(LONG / 4) + "\r"]) {
    const changes = changesInWords(`x = f("${text}", 1)`, `x = f("${text}", 2)`);
    assert.ok(changes.join().length < 500, changes.join().slice(0, 90));
  }
  assert.deepEqual(changesInWords(`${word}(1)`, `${word}(2)`), [`${word.slice(-199)} 1 → 2`]);
});

test("the first changes are put into words, and the others are counted", () => {
  const program = (seed) =>
    Array.from({ length: LONG / 10 }, (_, i) => `x${i} = ${seed}`).join("\n");
  const changes = changesInWords(program(1), program(2));
  assert.equal(changes.length, 21);
  assert.deepEqual(changes.slice(19), ["x19 1 → 2", "and 99980 more changes"]);
});

test("a comment at the end of a line is no change, however the line ends", () => {
  assert.deepEqual(changesInWords("x = 1  # a\r\ny = 2", "x = 1\r\ny = 2"), []);
});

test("changes of a run are computed once", () => {
  const [before, after] = [run({ code: "x = 1" }), run({ code: "x = 2" })];
  const changes = changesSince(before, after);
  assert.deepEqual(changes, ["x 1 → 2"]);
  assert.equal(changesSince(before, after), changes);
  assert.deepEqual(changesSince(run({ code: "x = 3" }), after), ["x 3 → 2"]);
});

test("many settings are grouped by their names", () => {
  const settings = Array.from({ length: MOST.settings }, (_, i) => ({
    step: i,
    name: `s${i}`,
    before: 0,
    after: 1,
  }));
  assert.equal(duringTraining(settings).length, MOST.settings);
});

test("a session has as many runs as the page keeps, and programs that it can compare", () => {
  let runs = Array.from({ length: MOST_PINNED }, (_, id) => run({ id, isPinned: true }));
  for (let id = MOST_PINNED; id < 2 * MOST.runs; id += 1) runs = withRun(runs, run({ id }));
  assert.equal(runs.length, MOST.runs);
  assert.equal(SHAPES.runs(runs), true);
  assert.equal(SHAPES.runs([...runs, run()]), false);
  const code = "#".repeat(MOST.codes / MOST.runs);
  assert.equal(SHAPES.runs(runs.map((each) => ({ ...each, code }))), true);
  assert.equal(SHAPES.runs(runs.map((each) => ({ ...each, code: `${code}#` }))), false);
});

test("the title is found after many comments and among many blanks", () => {
  const comments = "# a\r\n\r\n".repeat(1000);
  assert.equal(titleIn(`${comments}x = 1`), "");
  assert.equal(titleIn(`${comments}"""A net."""`), "A net");
  const blanks = " ".repeat(LONG);
  assert.equal(titleIn(`"""a${blanks}b.${blanks}"""`), `a${blanks}b`);
});

test("what a program loads is found among many lines", () => {
  const lines = "\r".repeat(LONG);
  assert.deepEqual(loadedNames(`${lines}\npg.data.load("a")`), ["a"]);
  assert.deepEqual(loadedModels(`${lines}\npg.load_model("a.onnx")`), ["a.onnx"]);
  const runs = [run({ code: `${lines}\npg.reset_default_graph(seed=7)` })];
  assert.match(report(runs, runs), /\b7\b/);
});

test("locked lines are found among many that are nearly the same", () => {
  const lines = (/** @type {number} */ count) => "a\n".repeat(count);
  const [many, few] = [LONG, LONG / 2];
  const locked = `${lines(few)}b`;
  assert.deepEqual(relocate(locked, lines(many), [[1, few + 1]]), [null]);
  assert.deepEqual(relocate(locked, `${lines(many)}b`, [[1, few + 1]]), [
    [many - few + 1, many + 1],
  ]);
});

test("a checkpoint of many blanks and quotes is read", () => {
  const kept = (/** @type {string} */ text) => {
    const header = new TextEncoder().encode(
      JSON.stringify({ __metadata__: { "playgrad-checkpoint": text } }),
    );
    const bytes = new Uint8Array(8 + header.length);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(header.length), true);
    bytes.set(header, 8);
    return /** @type {any} */ ({ bytes });
  };
  const blanks = " ".repeat(LONG);
  assert.equal(historyOf(kept(`{"a": [NaN, "NaN"],${blanks}x, "fits": []}`)).size, 0);
  assert.equal(historyOf(kept(`{"a": "${'\\"'.repeat(LONG)}`)).size, 0);
});
