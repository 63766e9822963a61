import assert from "node:assert/strict";
import test from "node:test";

globalThis.navigator ??= /** @type {any} */ ({ language: "en" });
const { enteredArray } = await import("../../static/standalone/inputs.js");
const { float32Text, numberText } = await import("../../static/standalone/words.js");

test("a float32 is shown as it was written", () => {
  for (const value of [0, -1, 12345, 250137, 19876.54, 0.1, -2.5e-8, 1e30, 16777216, 1 / 3])
    assert.equal(Math.fround(Number(float32Text(Math.fround(value)))), Math.fround(value));
  for (const text of ["12345", "19876.54", "0.1", "-2.5e-8", "1e+30"])
    assert.equal(float32Text(Math.fround(Number(text))), text);
});

test("a result keeps all digits before the point", () => {
  const texts = [12345.6, -250137.4, 999.96, 0.123456, -3, 0].map(numberText);
  assert.deepEqual(texts, ["12346", "-250137", "1000", "0.1235", "-3", "0"]);
});

test("an entered number that an integer input would change is refused", () => {
  const entered = (dtype, values) => [
    ...enteredArray({ dtype, shape: [1, values.length] }, values),
  ];
  assert.deepEqual(entered("uint8", [0, 255]), [0, 255]);
  assert.deepEqual(entered("bool", [true, 0]), [1, 0]);
  assert.deepEqual(entered("float32", [1.5]), [1.5]);
  for (const [dtype, value] of [
    ["uint8", 300],
    ["int8", -129],
    ["int32", 1.5],
    ["int32", 2 ** 32],
  ])
    assert.throws(() => entered(dtype, [0, value]), {
      message: new RegExp(`${dtype}, and ${value} is`),
    });
});
