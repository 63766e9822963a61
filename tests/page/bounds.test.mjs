import assert from "node:assert/strict";
import { test } from "node:test";

Object.defineProperty(globalThis, "navigator", { value: { hardwareConcurrency: 4 } });
const { DELAY, LAB, USUAL_LAB, withinBounds } = await import("../../static/js/state/bounds.js");

test("settings of the Lab out of bounds become the nearest within them", () => {
  for (const [name, { usual, least, most }] of Object.entries(LAB)) {
    const expected = new Map([
      [1e9, most()],
      [Infinity, most()],
      [-1e9, least],
      [least + 1.2, least + 1],
      [NaN, usual],
      [most(), most()],
      [least, least],
    ]);
    for (const [value, kept] of expected) {
      const { settings, changed } = withinBounds({ ...USUAL_LAB, [name]: value });
      assert.deepEqual(settings, { ...USUAL_LAB, [name]: kept }, `${name}: ${value}`);
      assert.deepEqual(changed, Object.is(value, kept) ? [] : [[name, String(value)]]);
    }
  }
});

test("the devices of a larger computer become the most of this one", () => {
  assert.equal(withinBounds({ devices: 8 }).settings.devices, 4);
});

test("each delay of a device becomes the nearest within bounds", () => {
  const { settings, changed } = withinBounds({ delays: [5, 1e9, -1, NaN, 7] });
  assert.deepEqual(settings.delays, [5, DELAY.most(), 0, 0]);
  assert.deepEqual(changed, [["delays", "5, 1000000000, -1, NaN"]]);
});
