/** Files of the visitor: tables, arrays and archives, and what is wrong with some of them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { openArchive, readEntry } from "../../static/js/own-data/archive.js";
import { arraysSet, firstArrayChoices, readNpz } from "../../static/js/own-data/arrays-set.js";
import { describeColumn, labelType, withType } from "../../static/js/own-data/columns.js";
import { decodeText, readTable } from "../../static/js/own-data/csv.js";
import { aboutOf, classCounts, encodeSet } from "../../static/js/own-data/data-set.js";
import { readNpy, writeNpy } from "../../static/js/own-data/npy.js";
import { DataProblem, LARGEST, checkSize } from "../../static/js/own-data/problem.js";
import { splitRows } from "../../static/js/own-data/split.js";
import {
  asUsed,
  describeColumns,
  firstChoices,
  leftOut,
  tableSet,
} from "../../static/js/own-data/table-set.js";
import { crc32, zipped } from "../../static/js/files/zip.js";

/** @param {string} text */
function columnsOf(text) {
  return describeColumns(readTable(text, "t.csv"));
}

const FLOWERS = `petal,colour,bloom,kind
1.5,red,2024-05-01,rose
2.5,"light, blue",2024-05-03,iris
3.5,red,2024-05-02,rose
4.5,white,2024-05-05,iris
5.5,white,2024-05-09,rose
6.5,red,2024-05-11,iris
`;

test("quotes, delimiters, line ends and headers are recognized", () => {
  const quoted = readTable('name;"a ""b"""\r\n"x;\ny";1\r\n\r\nz;2', "t.csv");
  assert.deepEqual(quoted.titles, ["name", 'a "b"']);
  assert.deepEqual(quoted.rows, [
    ["x;\ny", "1"],
    ["z", "2"],
  ]);
  assert.deepEqual(quoted.lines, [2, 5]);
  assert.equal(quoted.delimiter, ";");
  for (const delimiter of [",", ";", "\t", "|"]) {
    assert.equal(readTable(`1${delimiter}2\n3${delimiter}4\n`, "t.csv").delimiter, delimiter);
  }
  const bare = readTable("1,2\n3,4\n", "t.csv");
  assert.equal(bare.hasHeader, false);
  assert.deepEqual(bare.titles, ["column 1", "column 2"]);
  assert.equal(readTable("colour,kind\nred,rose\nblue,iris\nred,iris", "t.csv").hasHeader, true);
  assert.equal(readTable("red,rose\nblue,iris\nred,iris", "t.csv").hasHeader, false);
  assert.deepEqual(readTable("a,a,\n1,2,3", "t.csv").titles, ["a", "a (2)", "column 3"]);
});

test("text in other encodings is decoded", () => {
  assert.equal(decodeText(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)).text, "a");
  assert.equal(decodeText(Uint8Array.of(0xff, 0xfe, 0x61, 0)).text, "a");
  assert.deepEqual(decodeText(Uint8Array.of(0xfc)), { text: "ü", isGuess: true });
});

test("unusable tables are refused with the reason", () => {
  const refused = (/** @type {string} */ text, /** @type {RegExp} */ words) =>
    assert.throws(() => readTable(text, "t.csv"), words);
  refused("", /t\.csv is empty/);
  refused("\n  \n", /t\.csv is empty/);
  refused("a,b\n", /a header but no rows|no rows/);
  refused("a\n1\n2\n", /single column/);
  refused('a,b\n1,2\n"3,4\n', /line 3: a quotation mark is never closed/);
  refused("PK\u0003\u0004\0\0", /not a table of text/);
  assert.throws(
    () => checkSize("big.csv", 1 << 30, LARGEST.table),
    /big\.csv has 1024 MiB, and this page reads at most 32 MiB/,
  );
});

test("ragged rows are left out by line", () => {
  const { rows, ragged, lines } = readTable("a,b\n1,2\n3\n4,5,6\n7,8\n", "t.csv");
  assert.deepEqual(rows, [
    ["1", "2"],
    ["7", "8"],
  ]);
  assert.deepEqual(
    [ragged, lines],
    [
      [3, 4],
      [2, 5],
    ],
  );
});

test("types of columns are recognized", () => {
  const [petal, colour, bloom, kind] = columnsOf(FLOWERS);
  assert.deepEqual(
    [petal.type, colour.type, bloom.type, kind.type],
    ["number", "category", "date", "category"],
  );
  assert.equal(describeColumn("note", ["so", "many", "words", "here"]).type, "text");
  const odd = describeColumn("size", [...Array(19).fill("1"), "big"]);
  assert.deepEqual([odd.type, odd.odd, odd.firstOdd], ["number", 1, { row: 19, cell: "big" }]);
  assert.equal(describeColumn("euro", ["1,5", "2,25"]).type, "number");
  assert.equal(describeColumn("date", ["2024-02-30", "2024-13-01", "x"]).type, "text");
  assert.equal(labelType(describeColumn("y", ["0", "1", "1"])), "category");
  assert.equal(labelType(describeColumn("y", ["0.5", "1", "1"])), "number");
});

test("the label to begin with is the last column that is not a date or text", () => {
  const first = (/** @type {string[]} */ ...cells) =>
    firstChoices(cells.map((cell) => describeColumn(cell, [cell, cell, cell]))).label;
  assert.equal(first("1.5", "2.5", "2024-05-01"), 1);
  assert.equal(first("1.5", "2024-05-01", "2.5"), 2);
  assert.equal(first("2024-05-01", "2024-05-02"), 1);
});

test("categories, dates and labels become numbers", () => {
  const columns = columnsOf(FLOWERS);
  const choices = { ...firstChoices(columns), normalized: false };
  assert.deepEqual([choices.label, choices.labelType], [3, "category"]);
  const set = tableSet(columns, choices);
  assert.deepEqual(set.columns, [
    "petal",
    "colour=light, blue",
    "colour=red",
    "colour=white",
    "bloom",
  ]);
  assert.deepEqual(set.classes, ["iris", "rose"]);
  assert.deepEqual([set.train.count, set.test.count], [4, 2]);
  const days = Date.UTC(2024, 4, 1) / 86_400_000;
  const expected = new Map([
    [1.5, [0, 1, 0, days, 1]],
    [2.5, [1, 0, 0, days + 2, 0]],
    [6.5, [0, 1, 0, days + 10, 0]],
  ]);
  const rows = [set.train, set.test].flatMap(({ x, y, count }) =>
    Array.from({ length: count }, (_, row) => [...x.slice(5 * row, 5 * row + 5), y[row]]),
  );
  assert.equal(rows.length, 6);
  for (const [petal, rest] of expected)
    assert.deepEqual(rows.find(([first]) => first === petal)?.slice(1), rest);
  assert.deepEqual(classCounts(set), [
    { name: "iris", train: 2, test: 1 },
    { name: "rose", train: 2, test: 1 },
  ]);
  const prices = tableSet(columns, { ...choices, label: 0, labelType: "number" });
  assert.ok(prices.train.y instanceof Float32Array);
  assert.deepEqual(prices.classes, []);
});

test("classes of a column of numbers are the numbers", () => {
  const labels = [...Array(4).fill(["1", "2", "10", "1.0", "+2"]).flat(), "unknown"];
  const columns = columnsOf(`x,y\n${labels.map((label, row) => `${row},${label}\n`).join("")}`);
  const set = tableSet(columns, firstChoices(columns));
  assert.deepEqual(set.classes, ["1", "2", "10"]);
  assert.equal(set.train.count + set.test.count, 20);
  assert.equal(leftOut(columns, firstChoices(columns))?.rows, 1);
  const asText = tableSet([columns[0], withType(columns[1], "category")], firstChoices(columns));
  assert.deepEqual(asText.classes, ["+2", "1", "1.0", "10", "2", "unknown"]);
});

test("text in a label that is to be a number counts as missing", () => {
  const columns = columnsOf(FLOWERS.replace(/iris/g, "3"));
  const [, , , kind] = asUsed(columns, { label: 3, labelType: "number" });
  assert.deepEqual([kind.type, kind.firstOdd?.cell], ["number", "rose"]);
});

test("normalizing and filling use the training rows only", () => {
  const text = `a,b,y\n${Array.from({ length: 20 }, (_, row) => `${row % 5 === 0 ? "" : row * row},7,${row % 2}`).join("\n")}`;
  const columns = columnsOf(text);
  const choices = { ...firstChoices(columns), missing: /** @type {const} */ ("mean"), seed: 3 };
  const raw = tableSet(columns, { ...choices, normalized: false });
  const normal = tableSet(columns, choices);
  const train = Array.from(raw.train.x).filter((_, at) => at % 2 === 0);
  const mean = train.reduce((a, b) => a + b, 0) / train.length;
  const deviation = Math.sqrt(
    train.reduce((sum, value) => sum + (value - mean) ** 2, 0) / train.length,
  );
  raw.test.x.forEach((value, at) => {
    const expected = at % 2 === 0 ? (value - mean) / deviation : 0; // a column that does not vary
    assert.ok(Math.abs(normal.test.x[at] - expected) < 1e-5);
  });
  // The filled cells have the mean of the other training rows, and so does the whole.
  const filled = new Set(train.filter((value) => !Number.isInteger(Math.sqrt(value))));
  assert.equal(filled.size, 1);
  assert.ok(Math.abs([...filled][0] - mean) < 1e-3);
  assert.equal(leftOut(columns, choices), null);
  const { rows, column, holes, first } = /** @type {any} */ (
    leftOut(columns, { ...choices, missing: "drop" })
  );
  assert.deepEqual([rows, column.title, holes, first], [4, "a", 4, 0]);
  const dropped = tableSet(columns, { ...choices, missing: "drop" });
  assert.equal(dropped.train.count + dropped.test.count, 16);
});

test("choices that give no data set are refused with the reason", () => {
  const refused = (
    /** @type {string} */ text,
    /** @type {object} */ choices,
    /** @type {RegExp} */ words,
  ) => {
    const columns = columnsOf(text);
    assert.throws(() => tableSet(columns, { ...firstChoices(columns), ...choices }), words);
  };
  refused("a,y\n1,only\n2,only\n", { label: 1, labelType: "category" }, /only one class, “only”/);
  refused("a,y\n1,no\n2,yes\n", { label: 1, labelType: "number" }, /holds text, such as “no”/);
  refused("a,b,y\n1,,0\n,2,1\n", {}, /Every row has a missing value/);
  refused("a,b,y\n1,2,0\n,2,1\n", {}, /Only one row is left/);
  refused("note,y\nso,0\nmany,1\nwords,0\n", { label: 1 }, /No column is left as a feature/);
});

test("a split is the same for the same seed, and keeps classes on both sides", () => {
  const groups = Array.from({ length: 50 }, (_, row) => Number(row >= 45));
  const first = splitRows(groups, 0.2, 1);
  assert.deepEqual(first, splitRows(groups, 0.2, 1));
  assert.notDeepEqual(first.test, splitRows(groups, 0.2, 2).test);
  assert.deepEqual(
    [...first.train, ...first.test].sort((a, b) => a - b),
    groups.map((_, row) => row),
  );
  assert.deepEqual([first.test.length, first.test.filter((row) => row >= 45).length], [10, 1]);
  assert.deepEqual(splitRows([0, 0], 0, 0).test, []);
});

test("arrays of NumPy survive a round trip", () => {
  for (const values of [
    Uint8Array.of(1, 2, 255),
    Int32Array.of(-1, 2, 3),
    Float32Array.of(0.5, -2, 3),
  ]) {
    const array = { values, shape: [3] };
    assert.deepEqual(readNpy(writeNpy(array), "a"), array);
  }
  const texts = { texts: ["ü", "long 😀", ""], shape: [3] };
  assert.deepEqual(readNpy(writeNpy(texts), "a"), texts);
  assert.equal(writeNpy(texts).length % 4, 0);
});

/** An NPY file with a header of its own. @param {string} descr @param {string} rest @param {Uint8Array} content */
function npy(descr, rest, content) {
  const header = new TextEncoder().encode(`{'descr': ${descr}, ${rest} }\n`);
  return Uint8Array.of(
    0x93,
    0x4e,
    0x55,
    0x4d,
    0x50,
    0x59,
    1,
    0,
    header.length,
    0,
    ...header,
    ...content,
  );
}

test("unusable arrays are refused with the reason", () => {
  const order = "'fortran_order': False, 'shape': (1,)";
  assert.throws(
    () => readNpy(npy("'|O'", order, new Uint8Array(8)), "a"),
    /a holds Python objects/,
  );
  assert.throws(
    () => readNpy(npy("[('x', '<f4')]", order, new Uint8Array(8)), "a"),
    /holds records/,
  );
  assert.throws(() => readNpy(npy("'<c8'", order, new Uint8Array(8)), "a"), /only real numbers/);
  assert.throws(() => readNpy(npy("'<f8'", order, new Uint8Array(7)), "a"), /truncated/);
  assert.throws(() => readNpy(new Uint8Array(30), "a"), /not an array of NumPy/);
  for (const descr of ["'<U0'", "'|S0'", "'|V0'", "'<U'", "'<f0'"])
    for (const shape of ["(16777216,)", "(99999999999,)", "(1,)"])
      assert.throws(
        () =>
          readNpy(npy(descr, `'shape': ${shape}, 'fortran_order': False`, new Uint8Array(8)), "a"),
        /only real numbers/,
        descr + shape,
      );
  /** @param {string} type @param {ArrayBuffer} content */
  const only = (type, content) =>
    /** @type {any} */ (readNpy(npy(`'${type}'`, order, new Uint8Array(content)), "a")).values;
  assert.deepEqual(only("|b1", Uint8Array.of(1).buffer), Int32Array.of(1)); // not a pixel
  assert.deepEqual(only("<i8", BigInt64Array.of(3_000_000_000n).buffer), Float32Array.of(3e9));
  const columnsFirst = npy(
    "'<i8'",
    "'fortran_order': True, 'shape': (2, 3)",
    new Uint8Array(BigInt64Array.of(1n, 4n, 2n, 5n, 3n, 6n).buffer),
  );
  assert.deepEqual([.../** @type {any} */ (readNpy(columnsFirst, "a")).values], [1, 2, 3, 4, 5, 6]);
});

/** An archive without compression. @param {Record<string, Uint8Array<ArrayBuffer>>} files */
const stored = (files) => zipped(new Map(Object.entries(files)), new Date(2026, 0, 1));

/** @param {Blob} blob */
const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

/** A compressed archive of one file. @param {Uint8Array<ArrayBuffer>} bytes @param {number} [claimed] the size in the directory */
async function packed(bytes, claimed = bytes.length) {
  const plain = await bytesOf(stored({ "a.npy": bytes }));
  const content = deflateRawSync(bytes);
  const tail = plain.slice(35 + bytes.length);
  const archive = new Uint8Array([...plain.slice(0, 35), ...content, ...tail]);
  const view = new DataView(archive.buffer);
  for (const at of [8, 35 + content.length + 10]) view.setUint16(at, 8, true);
  for (const at of [18, 35 + content.length + 20]) {
    view.setUint32(at, content.length, true);
    view.setUint32(at + 4, claimed, true);
  }
  view.setUint32(archive.length - 6, 35 + content.length, true);
  return new Blob([archive]);
}

/** Change a file in the directory of an archive. @param {Blob} blob @param {string} name @param {(view: DataView, at: number) => void} change */
async function withEntry(blob, name, change) {
  const bytes = await bytesOf(blob);
  const view = new DataView(bytes.buffer);
  let at = view.getUint32(bytes.length - 6, true);
  const nameAt = () =>
    new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + view.getUint16(at + 28, true)));
  while (nameAt() !== name) at += 46 + view.getUint16(at + 28, true);
  change(view, at);
  return new Blob([bytes]);
}

test("compressed and stored archives are read", async () => {
  const bytes = Uint8Array.from({ length: 5000 }, (_, at) => at % 7);
  const plain = await openArchive(
    stored({ "ü/a": bytes, "ü/": new Uint8Array(), b: new Uint8Array() }),
    "z.zip",
  );
  assert.deepEqual(
    plain.entries.map(({ name, size }) => [name, size]),
    [
      ["ü/a", 5000],
      ["b", 0],
    ],
  );
  assert.deepEqual(await readEntry(plain, plain.entries[0], 5000), bytes);
  const small = await openArchive(await packed(bytes), "z.zip");
  assert.ok(small.entries[0].packed < 500);
  assert.deepEqual(await readEntry(small, small.entries[0], 5000), bytes);
});

test("bombs and damaged archives are refused", async () => {
  const refused = async (
    /** @type {Blob} */ blob,
    /** @type {number} */ most,
    /** @type {RegExp} */ words,
  ) => {
    const archive = await openArchive(blob, "z.zip");
    await assert.rejects(
      readEntry(archive, archive.entries[0], most),
      (problem) => problem instanceof DataProblem && words.test(problem.message),
    );
  };
  const zeros = new Uint8Array(4 << 20);
  await refused(await packed(zeros), 1 << 20, /unpacks to 4194304 bytes, more than the 1048576/);
  await refused(await packed(zeros, 1000), 1 << 20, /unpacks to more than the archive says/);
  const short = await withEntry(await packed(new Uint8Array(1000), 1001), "a.npy", (view, at) =>
    view.setUint32(at + 16, crc32(new Uint8Array(1001)), true),
  );
  await refused(short, 1 << 20, /a\.npy is damaged\. Pack it again/);
  await assert.rejects(
    openArchive(new Blob(["no archive"]), "z.zip"),
    /z\.zip is not a ZIP archive/,
  );
  const archive = await bytesOf(stored({ a: Uint8Array.of(1, 2, 3) }));
  await assert.rejects(openArchive(new Blob([archive.slice(20)]), "z.zip"), /damaged|not a ZIP/);
  archive[32] ^= 1;
  await refused(new Blob([archive]), 100, /a is damaged/);
  const end = archive.length - 22;
  new DataView(archive.buffer).setUint32(end + 16, 0xffffffff, true);
  await assert.rejects(
    openArchive(new Blob([archive]), "z.zip"),
    /z\.zip is too large a ZIP archive for this page/,
  );
});

test("a bad file in an archive takes no other with it", async () => {
  const bytes = Uint8Array.of(1, 2, 3);
  const whole = stored({ "cat/1.png": bytes, "dog/2.png": bytes });
  /** @type {[(view: DataView, at: number) => void, RegExp][]} */
  const damages = [
    [
      (view, at) => view.setUint16(at + 8, 1, true),
      /cat\/1\.png is encrypted\. Pack it without a password/,
    ],
    [
      (view, at) => view.setUint16(at + 10, 12, true),
      /cat\/1\.png is packed in a way \(12\) that browsers cannot unpack/,
    ],
    [(view, at) => view.setUint32(at + 24, 2, true), /cat\/1\.png is damaged/],
    [(view, at) => view.setUint32(at + 42, 0xfffffff0, true), /cat\/1\.png is damaged/],
  ];
  for (const [change, words] of damages) {
    const archive = await openArchive(await withEntry(whole, "cat/1.png", change), "z.zip");
    await assert.rejects(readEntry(archive, archive.entries[0], 100), words);
    assert.deepEqual(await readEntry(archive, archive.entries[1], 100), bytes);
  }
});

/** @param {Record<string, import("../../static/js/own-data/npy.js").NumberArray>} arrays */
const npz = (arrays) =>
  stored(
    Object.fromEntries(
      Object.entries(arrays).map(([name, array]) => [`${name}.npy`, writeNpy(array)]),
    ),
  );

test("arrays become a data set", async () => {
  const x = { values: Float32Array.from({ length: 20 }, (_, at) => at), shape: [10, 2] };
  const y = { values: Int32Array.from({ length: 10 }, (_, at) => at % 2), shape: [10] };
  const arrays = await readNpz(npz({ x, y }), "d.npz");
  const set = arraysSet(arrays, "d.npz", firstArrayChoices(arrays, "d.npz"));
  assert.deepEqual(aboutOf(set), {
    kind: "arrays",
    shape: [2],
    train: 8,
    test: 2,
    classes: ["0", "1"],
    columns: [],
  });
  const again = await readNpz(encodeSet(set), "d.npz");
  assert.deepEqual([...again.keys()], ["x_train", "y_train", "x_test", "y_test", "class_names"]);
  assert.deepEqual(arraysSet(again, "d.npz", firstArrayChoices(again, "d.npz")).train, {
    ...set.train,
    targetShape: [],
  });
});

test("wrong shapes and values are refused with the reason", async () => {
  const x = { values: new Float32Array(20), shape: [10, 2] };
  const labels = { values: Int32Array.from({ length: 10 }, (_, at) => at % 2), shape: [10] };
  const refused = async (/** @type {any} */ given, /** @type {RegExp} */ words) => {
    const arrays = await readNpz(npz(given), "d.npz");
    assert.throws(
      () => arraysSet(arrays, "d.npz", { test: 0.2, seed: 0, normalized: false, isClasses: true }),
      words,
    );
  };
  await refused({ x, y: { values: new Int32Array(9), shape: [9] } }, /10 rows in x but 9 in y/);
  await refused({ x }, /holds x\. A data set has x_train/);
  await refused({ x, y: { values: new Int32Array(10), shape: [10] } }, /all of one class/);
  await refused(
    {
      x: { values: Float32Array.of(1, NaN), shape: [2, 1] },
      y: { values: new Int32Array(2), shape: [2] },
    },
    /NaN or infinity/,
  );
  await refused({ x: { values: new Float32Array(10), shape: [10] }, y: labels }, /Give it an axis/);
  await refused(
    {
      x_train: x,
      y_train: labels,
      x_test: { values: new Float32Array(6), shape: [2, 3] },
      y_test: { values: new Int32Array(2), shape: [2] },
    },
    /differ in shape: 2 in x_train, 3 in x_test/,
  );
  const objects = stored({ "x.npy": npy("'|O'", "'shape': (1,)", new Uint8Array(8)) });
  await assert.rejects(readNpz(objects, "d.npz"), /x\.npy in d\.npz holds Python objects/);
});
