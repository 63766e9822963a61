import assert from "node:assert/strict";
import { test } from "node:test";
import { headOf, isPacked, pack, partsOf, unpackPart } from "../../static/engine/pixels.js";

/** @param {number} count @param {number} rows @param {number} columns @param {(at: number) => number} value */
function idxOf(count, rows, columns, value) {
  const pixels = Uint8Array.from({ length: count * rows * columns }, (_, at) => value(at));
  const idx = new Uint8Array(16 + pixels.length);
  const view = new DataView(idx.buffer);
  [0x803, count, rows, columns].forEach((word, at) => view.setUint32(4 * at, word));
  idx.set(pixels, 16);
  return idx;
}

/** Numbers that look random. @param {number} at */
const noise = (at) => (Math.imul(at + 1, 2654435761) >>> 13) & 255;

/** Strokes with grey edges. @param {number} at */
function strokes(at) {
  const [row, column] = [Math.floor(at / 28) % 28, at % 28];
  const far = Math.abs(column - 9 - (row * (1 + (Math.floor(at / 784) % 5))) / 5);
  return far < 1 ? 253 - (noise(at) & 3) : far < 2 ? noise(at) : 0;
}

/** @param {Uint8Array} file */
function unpack(file) {
  const idx = new Uint8Array(headOf(file).size);
  for (const [part, [from, to]] of [...partsOf(file).entries()].reverse())
    unpackPart(file, part, file.subarray(from, to), idx);
  return idx;
}

const FILES = {
  strokes: idxOf(300, 28, 28, strokes),
  noise: idxOf(9, 28, 28, noise),
  black: idxOf(10, 28, 28, () => 0),
  white: idxOf(10, 28, 28, () => 255),
  "all values": idxOf(6, 16, 16, (at) => at & 255),
  "one row": idxOf(5, 1, 40, noise),
  "one column": idxOf(5, 40, 1, noise),
  "many parts": idxOf(16 * 3000 + 1, 1, 2, noise),
  "no image": idxOf(0, 28, 28, noise),
};

for (const [name, idx] of Object.entries(FILES))
  test(`what is packed unpacks to the same bytes: ${name}`, async () => {
    const file = await pack(idx);
    assert.ok(isPacked(file) && !isPacked(idx));
    assert.deepEqual(unpack(file), idx);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", idx));
    assert.deepEqual(headOf(file).hash, hash);
  });

test("strokes take at most 1.5 bytes for each pixel of noise, with all that is around them", async () => {
  const { length } = await pack(FILES.strokes);
  const grey = FILES.strokes.filter((value) => value > 0 && value < 250).length;
  assert.ok(length < 1.5 * grey, `${length} bytes for ${grey} grey pixels`);
});

test("what is no file of images, or is cut or too large, is refused", async () => {
  const idx = FILES.noise;
  for (const bad of [new Uint8Array(), idx.slice(0, 10), idx.slice(0, -1), new Uint8Array(99)])
    await assert.rejects(pack(bad), /IDX file|pixels are not/);
  const file = await pack(idx);
  assert.throws(() => headOf(file.slice(0, 40)), /not a file of packed images/);
  assert.throws(() => headOf(idx), /not a file of packed images/);
  assert.throws(() => unpack(file.slice(0, -20)), /is cut/);
  const large = file.slice();
  new DataView(large.buffer).setUint32(4, 1 << 30);
  assert.throws(() => headOf(large), /more than a page takes/);
});
