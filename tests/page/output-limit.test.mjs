import assert from "node:assert/strict";
import test from "node:test";
import { OutputLimit } from "../../static/engine/output-limit.js";

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("a line is sent at once", () => {
  const sent = [];
  new OutputLimit((output) => sent.push(output)).write("hello\n");
  assert.deepEqual(sent, [{ text: "hello\n" }]);
});

test("text that is held back is sent later", async () => {
  const sent = [];
  const limit = new OutputLimit((output) => sent.push(output));
  for (const text of ["one\n", "two\n", "three\n"]) limit.write(text);
  await pause(400);
  assert.equal(sent.map(({ text }) => text).join(""), "one\ntwo\nthree\n");
  assert.ok(sent.length < 4);
});

test("a flood is sent in few messages, and omitted text is counted", async () => {
  for (const size of [5, 1000, 1_000_000]) {
    const sent = [];
    const limit = new OutputLimit((output) => sent.push(output));
    const began = performance.now();
    for (let written = 0; written < 2_000_000; written += size) limit.write("x".repeat(size));
    const windows = (performance.now() - began) / 250 + 2;
    await pause(400);
    const characters = sent.reduce((sum, { text }) => sum + text.length, 0);
    const missing = sent.reduce((sum, output) => sum + (output.left_out ?? 0), 0);
    assert.equal(characters + missing, 2_000_000);
    assert.ok(characters <= windows * 32_000);
    assert.ok(sent.length <= windows * 10);
  }
});
