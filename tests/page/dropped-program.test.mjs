/** A dropped program opens beside the others, and nothing is lost; what is no program is refused in words. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { MOST_BYTES, openProgramFile } from "../../static/js/own-data/dropped-program.js";
import { edit, openExample } from "../../static/js/gallery/examples.js";
import * as store from "../../static/js/state/store.js";

const SPIRAL = { id: "spiral", title: "Spiral", description: "", source: "x = 1\n" };

beforeEach(() => {
  store.codes.value = {};
  store.examples.value = [SPIRAL];
  store.projectProblem.value = "";
  store.side.value = "panels";
  openExample("spiral");
});

/** @param {string | Uint8Array} content */
const file = (content, name = "net.py") => new File([content], name);

test("a program opens as it is, and the changes of the one before are kept", async () => {
  edit("x = 2  # mine\n");
  await openProgramFile(file("\ufeffprint(1)\r\nprint(2)\r\n", "My net.PY"));
  assert.equal(store.source.value, "print(1)\nprint(2)\n");
  assert.equal(store.example.value.title, "My net");
  assert.equal(store.side.value, "build");
  assert.match(store.notice.value, /^“My net.PY” is open/);
  openExample("spiral");
  assert.equal(store.source.value, "x = 2  # mine\n");
});

test("the same file again is the same program, another of its name a second one", async () => {
  await openProgramFile(file("a = 1\n"));
  edit("a = 2\n");
  await openProgramFile(file("a = 1\n"));
  assert.deepEqual(store.codes.value, { "file-net": "a = 2\n", "file-net 2": "a = 1\n" });
  openExample("spiral");
  await openProgramFile(file("a = 1\n"));
  assert.equal(store.exampleId.value, "file-net 2");
  assert.equal(store.examples.value.length, 3);
});

test("files other than programs are refused, and the page stays as it is", async () => {
  for (const [content, words] of [
    [
      new Uint8Array(MOST_BYTES + 1).fill(35),
      /^“net.py” has 488 KB|^“net.py” has \d+ \S+; a program can have/,
    ],
    [new Uint8Array([0xff, 0xfe, 0x61]), /not text in UTF-8/],
    ["a\0b", /not text in UTF-8/],
    ["", /has no code/],
    ["\n \n", /has no code/],
  ]) {
    await openProgramFile(file(content));
    assert.match(store.projectProblem.value, words);
    assert.equal(store.source.value, SPIRAL.source);
    assert.equal(store.examples.value.length, 1);
  }
  await openProgramFile(file("a = 1\n"));
  assert.equal(store.projectProblem.value, "", "the refusal before is over");
});

test("a file that cannot be read is reported", async () => {
  const gone = file("a = 1\n");
  gone.arrayBuffer = () => Promise.reject(new DOMException("it was moved", "NotFoundError"));
  await openProgramFile(gone);
  assert.equal(store.projectProblem.value, "“net.py” cannot be read: it was moved");
});
