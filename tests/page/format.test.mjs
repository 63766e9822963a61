import assert from "node:assert/strict";
import test from "node:test";
import * as format from "../../static/js/words/format.js";

test("missing values are shown as a dash", () => {
  for (const write of [format.loss, format.percent, format.rate, format.duration]) {
    assert.equal(write(null), "–");
  }
});

test("losses of any size are readable", () => {
  assert.equal(format.loss(0.12345), "0.1235");
  assert.equal(format.loss(0), "0.0000");
  assert.equal(format.loss(1.5e-7), "1.50e-7");
  assert.equal(format.loss(2.5e12), "2.50e+12");
  assert.equal(format.loss(NaN), "NaN");
});

test("fractions, rates, times, counts and shapes are formatted", () => {
  assert.equal(format.percent(0.956), "95.60%");
  assert.equal(format.rate(183.6), "184");
  assert.equal(format.rate(1.234), "1.23");
  assert.equal(format.duration(4.2), "5 s");
  assert.equal(format.duration(119.7), "2 min 0 s");
  assert.equal(format.duration(7200), "2 h 0 min");
  assert.equal(format.count(101770), "101,770");
  assert.equal(format.shape([null, 784]), "? × 784");
  assert.equal(format.shape([]), "scalar");
});
