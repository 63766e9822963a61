import assert from "node:assert/strict";
import test from "node:test";
import { Transcript } from "../../static/js/output/transcript.js";

const texts = (transcript) => transcript.lines.map(({ text }) => text);

test("pieces of a line come together", () => {
  const transcript = new Transcript();
  for (const piece of ["ab", "c\nd", "e\n"]) transcript.add(piece, "stdout");
  assert.deepEqual(texts(transcript), ["abc", "de"]);
});

test("a carriage return overwrites the line, as progress bars do", () => {
  const transcript = new Transcript();
  for (const piece of ["10%", "\r20%", "\r30%\n", "done\r\n"]) transcript.add(piece, "stdout");
  assert.deepEqual(
    texts(transcript),
    ["30%", "done\r"].map((text) => text.trim()),
  );
});

test("the two streams do not run into each other", () => {
  const transcript = new Transcript();
  transcript.add("out", "stdout");
  transcript.add("err\n", "stderr");
  assert.deepEqual(texts(transcript), ["out", "err"]);
});

const numbers = (count) => Array.from({ length: count }, (_, index) => `${index}\n`).join("");

test("a flood leaves its beginning and its end, and says how much is missing", () => {
  for (const size of [1, 7, 1000, 1_000_000]) {
    const transcript = new Transcript();
    const flood = numbers(50_000);
    for (let at = 0; at < flood.length; at += size)
      transcript.add(flood.slice(at, at + size), "stdout");
    assert.equal(transcript.lines.length, 601);
    assert.deepEqual(texts(transcript).slice(0, 100), numbers(100).trim().split("\n"));
    assert.equal(transcript.lines[101].text, "49500");
    assert.equal(transcript.lines.at(-1).text, "49999");
    const shown = [...transcript.lines.slice(0, 100), ...transcript.lines.slice(101)];
    const missing = flood.length - shown.reduce((sum, { text }) => sum + text.length + 1, 0);
    assert.equal(
      transcript.lines[100].text,
      `… ${missing.toLocaleString("en")} characters left out …`,
    );
    assert.equal(new Set(transcript.lines.map(({ id }) => id)).size, transcript.lines.length);
  }
});

test("a long line leaves its beginning and its end", () => {
  for (const size of [10, 3999, 100_000]) {
    const transcript = new Transcript();
    const line = `begin${"x".repeat(99_990)}the end`;
    for (let at = 0; at < line.length; at += size)
      transcript.add(line.slice(at, at + size), "stdout");
    transcript.add("\nnext\n", "stdout");
    assert.equal(transcript.lines.length, 2);
    assert.match(transcript.lines[0].text, /^beginx+… 96,002 characters left out …x+the end$/);
    assert.equal(transcript.lines[1].text, "next");
  }
});

test("a line is whole up to 4,000 characters", () => {
  const transcript = new Transcript();
  transcript.add(`${"x".repeat(4000)}\n`, "stdout");
  assert.equal(transcript.lines[0].text, "x".repeat(4000));
});

test("a carriage return overwrites a long line as well", () => {
  const transcript = new Transcript();
  transcript.add("x".repeat(10_000), "stdout");
  transcript.add("\rshort\n", "stdout");
  assert.deepEqual(texts(transcript), ["short"]);
});

test("characters omitted by the engine and by the transcript are counted together", () => {
  const transcript = new Transcript();
  transcript.add("first\nsecond", "stdout");
  transcript.skip(1_000_000, "stdout");
  transcript.add("last\n", "stdout");
  assert.deepEqual(texts(transcript), ["first", "second… 1,000,000 characters left out …last"]);
  transcript.skip(5, "stderr");
  transcript.add("\n", "stderr");
  assert.equal(transcript.lines.at(-1).text, "… 5 characters left out …");
  transcript.clear();
  transcript.add(numbers(110), "stdout");
  transcript.skip(1_000_000, "stdout");
  transcript.add(`\n${numbers(600)}`, "stdout");
  assert.equal(transcript.lines.length, 601);
  const left = Number(/[\d,]+/.exec(transcript.lines[100].text)[0].replaceAll(",", ""));
  assert.equal(
    left,
    1_000_000 + numbers(110).length - numbers(100).length + 1 + numbers(100).length,
  );
});
