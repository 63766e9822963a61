/** Where a suggested edit belongs in code that was changed since the run, and the words of the doctor. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { placed } from "../../static/js/panels/watch/doctor-edit.js";
import { sentenceOf } from "../../static/js/panels/watch/doctor-words.js";
import { en } from "../../static/js/messages/en.js";

const RAN = 'a = "😀", 1.0\nshuffle(y)\nfit(a)';
const RATE = { line: 1, column: 9, end_line: 1, end_column: 12, old: "1.0", text: "0.1" };
const LINE = { line: 2, column: 0, end_line: 3, end_column: 0, old: "shuffle(y)\n", text: "" };

/** @param {string} text @param {{from: number, to: number, insert: string}[] | null} changes */
const applied = (text, changes) =>
  [...(changes ?? [])]
    .sort((a, b) => b.from - a.from)
    .reduce((all, { from, to, insert }) => all.slice(0, from) + insert + all.slice(to), text);

test("an edit is made where its line is now", () => {
  assert.equal(applied(RAN, placed([LINE, RATE], RAN, RAN)), 'a = "😀", 0.1\nfit(a)');
  const later = `# new\n${RAN}\nmore()`;
  assert.equal(
    applied(later, placed([LINE, RATE], RAN, later)),
    '# new\na = "😀", 0.1\nfit(a)\nmore()',
  );
});

test("an edit of a line that has changed is refused as a whole", () => {
  assert.equal(placed([LINE, RATE], RAN, RAN.replace("1.0", "2.0")), null);
  assert.equal(placed([LINE, RATE], RAN, RAN.replace("shuffle(y)\n", "")), null);
  assert.notEqual(placed([LINE, RATE], RAN, RAN.replace("fit(a)", "fit(b)")), null);
  assert.equal(placed([RATE], RAN, ""), null);
});

test("sentences name numbers as people write them", () => {
  const finding = (code, values) => ({ code, values, node: null, line: null, edit: null });
  assert.equal(
    sentenceOf(finding("rate-low", { rate: 1e-5, loss: 0.7714, ahead: 0.69, times: 1e3 })),
    "The learning rate 1e−5 is too small: 1,000 times as far in the same direction the loss would be 0.69 instead of 0.771.",
  );
  assert.match(sentenceOf(finding("exploding", { times: Infinity })), /∞ times/);
  assert.equal(sentenceOf(finding("unheard-of", {})), "");
  assert.equal(
    sentenceOf(finding("not-seen", { error: "ValueError", message: "" })),
    "The doctor could not check everything (ValueError). The training is not affected.",
  );
  for (const [code, say] of Object.entries({ ...en.doctor.sentences, ...en.doctor.edits }))
    assert.equal(typeof say({ why: "" }), "string", code);
});
