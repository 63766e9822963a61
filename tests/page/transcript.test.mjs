import assert from "node:assert/strict";
import test from "node:test";
import { Transcript } from "../../static/js/transcript.js";

const texts = (transcript) => transcript.lines.map(({ text }) => text);

test("pieces of a line come together", () => {
  const transcript = new Transcript();
  for (const piece of ["ab", "c\nd", "e\n"]) transcript.add(piece, "stdout");
  assert.deepEqual(texts(transcript), ["abc", "de"]);
});

test("a carriage return overwrites the line, as progress bars do", () => {
  const transcript = new Transcript();
  for (const piece of ["10%", "\r20%", "\r30%\n", "done\r\n"]) transcript.add(piece, "stdout");
  assert.deepEqual(texts(transcript), ["30%", "done\r"].map((text) => text.trim()));
});

test("the two streams do not run into each other", () => {
  const transcript = new Transcript();
  transcript.add("out", "stdout");
  transcript.add("err\n", "stderr");
  assert.deepEqual(texts(transcript), ["out", "err"]);
});

test("a flood leaves its end", () => {
  const transcript = new Transcript();
  transcript.add(Array.from({ length: 50_000 }, (_, index) => `${index}\n`).join(""), "stdout");
  assert.ok(transcript.lines.length <= 600);
  assert.equal(transcript.lines.at(-1).text, "49999");
  assert.equal(new Set(transcript.lines.map(({ id }) => id)).size, transcript.lines.length);
});
