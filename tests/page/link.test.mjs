import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { compare, isLandmark } from "../../static/js/sharing/landmarks.js";
import { LinkError, decode, encode, isLink } from "../../static/js/sharing/link.js";

const SHARED = {
  version: 1,
  exampleId: "mnist-mlp",
  title: "Handwritten digits",
  code: 'print("Grüße, 世界")\n'.repeat(40),
  device: "cpu",
  view: "graph",
  lab: null,
  expected: {
    losses: [
      [1, 2.3025851249694824],
      [2, 2.25],
    ],
    steps: 938,
    device: "cpu:0",
  },
};

test("a program comes back as it was", async () => {
  const link = await encode(SHARED);
  assert.ok(isLink(link));
  assert.match(link, /^#program=[\w-]+$/);
  assert.ok(link.length < 500, `${link.length} characters`);
  assert.deepEqual(await decode(link), SHARED);
});

test("a link can hide parts of the page, and older ones hide nothing", async () => {
  const lesson = { ...SHARED, hidden: ["graph", "lab", "a panel of a later version"] };
  assert.deepEqual(await decode(await encode(lesson)), lesson);
  assert.equal((await decode(await encode(SHARED))).hidden, undefined);
  for (const wrong of ["graph", [1], null])
    await assert.rejects(decode(await encode({ ...SHARED, hidden: wrong })), LinkError);
});

test("a link can choose the main picture, also one of a later version", async () => {
  for (const picture of ["confusion", "a picture of a later version"]) {
    const link = await encode({ ...SHARED, picture });
    assert.equal((await decode(link)).picture, picture);
  }
  assert.equal((await decode(await encode(SHARED))).picture, undefined);
  for (const wrong of [1, ["graph"], null, "x".repeat(20_000)])
    await assert.rejects(decode(await encode({ ...SHARED, picture: wrong })), LinkError);
});

test("a damaged link is refused at every place", async () => {
  const link = await encode(SHARED);
  for (let at = 2; at < link.length; at += 1) {
    assert.ok(isLink(link.slice(0, at)));
    await assert.rejects(decode(link.slice(0, at)), LinkError);
  }
  for (const other of ["", "#", "#panels", "#program-title"]) assert.ok(!isLink(other));
  await assert.rejects(decode("#program=%%%"), /Ask for it again/);
  await assert.rejects(decode(`#program=${"A".repeat(300_000)}`), /too long/);
});

test("the content of a link must have the form of a program", async () => {
  for (const change of [
    { code: 1 },
    { exampleId: "constructor" },
    { exampleId: "../a" },
    { device: "tpu" },
    { expected: { losses: [["a", 1]], steps: 1, device: "" } },
  ]) {
    await assert.rejects(decode(await encode({ ...SHARED, ...change })), LinkError);
  }
  await assert.rejects(decode(await encode({ ...SHARED, version: 2 })), /later version/);
});

test("a small link that expands to gigabytes is refused", async () => {
  const link = await encode({ ...SHARED, code: " ".repeat(5_000_000) });
  assert.ok(link.length < 20_000);
  await assert.rejects(decode(link), LinkError);
});

test("a program that is too long has no link", async () => {
  const code = randomBytes(200_000).toString("base64");
  await assert.rejects(encode({ ...SHARED, code }), /too long for a link/);
});

test("landmarks are two steps of each power of two", () => {
  const steps = Array.from({ length: 100 }, (_, index) => index + 1).filter(isLandmark);
  assert.deepEqual(steps, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96]);
});

test("losses are compared where both runs have them", () => {
  const expected = [
    [1, 2],
    [2, 1.5],
    [3, 1],
    [4, 0.5],
  ];
  assert.deepEqual(compare(expected, expected), { compared: 4, differs: null, largest: 0 });
  assert.equal(
    compare(expected, [
      [1, 2],
      [2, 1.5001],
    ]).compared,
    2,
  );
  assert.equal(
    compare(expected, [
      [1, 2],
      [2, 1.5001],
    ]).differs,
    null,
  );
  assert.deepEqual(
    compare(expected, [
      [1, 2],
      [2, 1.51],
      [3, 1],
    ]).differs,
    [2, 1.5, 1.51],
  );
  assert.deepEqual(compare(expected, [[1, Number.NaN]]).differs, [1, 2, Number.NaN]);
});
