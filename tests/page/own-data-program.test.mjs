/** Programs that load data of the visitor: names, the line that is written, and whole programs. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { applyChanges } from "../../static/js/blocks/lists.js";
import { readProgram } from "../../static/js/blocks/reader.js";
import { inferShapes } from "../../static/js/blocks/shapes.js";
import {
  loadedNames,
  namedSet,
  problemOfName,
  suggestedName,
} from "../../static/js/own-data/data-names.js";
import { takeIn } from "../../static/js/own-data/intake.js";
import { writeNpy } from "../../static/js/own-data/npy.js";
import { loadChanges, starterProgram } from "../../static/js/own-data/program-line.js";
import { zipped } from "../../static/js/files/zip.js";

/** @param {string} text @param {string} [name] */
function loading(text, name = "flowers") {
  return applyChanges(text, loadChanges(readProgram(text), name));
}

const LINE = '(x_train, y_train), (x_test, y_test) = pg.data.load("flowers")';

test("a line is written where the program loads its data", () => {
  assert.equal(
    loading(
      "import playgrad as pg\n\n(x_train, y_train), (x_test, y_test) = pg.data.mnist()\nmodel = 1\n",
    ),
    `import playgrad as pg\n\n${LINE}\nmodel = 1\n`,
  );
  assert.equal(
    loading('import playgrad as pg\nd = pg.data.load("old")\n'),
    'import playgrad as pg\nd = pg.data.load("flowers")\n',
  );
  assert.equal(loading(`import playgrad as pg\n${LINE}\n`), `import playgrad as pg\n${LINE}\n`);
  assert.equal(
    loading(
      '"""About."""\n\nimport playgrad as pg\nfrom playgrad import nn\n\nx, y = pg.data.spiral(600)\n',
    ),
    `"""About."""\n\nimport playgrad as pg\nfrom playgrad import nn\n\n${LINE}\n\nx, y = pg.data.spiral(600)\n`,
  );
  const empty = loading("");
  assert.equal(loading(empty), empty);
  assert.ok(readProgram(empty).data.length === 1, empty);
});

test("programs fit their data", () => {
  for (const shape of [[5], [16, 16, 1], [128, 128, 3], [7, 4]]) {
    for (const classes of [["a", "b", "c"], []]) {
      const about = {
        kind: /** @type {const} */ ("table"),
        shape,
        train: 300,
        test: 60,
        classes,
        columns: [],
      };
      const program = readProgram(starterProgram("flowers", about), (name) =>
        name !== "flowers"
          ? null
          : {
              samples: { shape, dtype: "float32" },
              targets: { shape: [], dtype: classes.length > 0 ? "int32" : "float32" },
            },
      );
      assert.equal(program.broken, false);
      const results = inferShapes(program);
      const last = program.networks[0].items.at(-1);
      const result = results.get(last?.id ?? -1);
      assert.equal(result?.problem ?? "", "");
      assert.deepEqual(result?.shape, [classes.length || 1]);
    }
  }
});

test("names of data sets are found in programs and validated", () => {
  assert.deepEqual(
    loadedNames(
      'x = pg.data.load("a")\n# pg.data.load("b")\ny = data.load( \'ü c\' )\npg.io.load("d")',
    ),
    ["a", "ü c"],
  );
  for (const name of ["", " a", 'a"b', "a/b", "mnist", "x".repeat(61), ".."])
    assert.notEqual(problemOfName(name), "", name);
  for (const name of ["flowers", "Meine Blüten 2", "a-b_c.d"])
    assert.equal(problemOfName(name), "", name);
  assert.equal(suggestedName("folder/My flowers (1).csv", []), "My-flowers-1");
  assert.equal(suggestedName("a.csv", ["a", "a-2"]), "a-3");
  assert.equal(suggestedName("mnist.npz", []), "mnist-2");
  assert.equal(problemOfName(suggestedName("§$%.csv", [])), "");
});

test("the data set of a program is found by its name", () => {
  assert.equal(namedSet('x, y = pg.data.load("shapes", size=24)'), "shapes");
  assert.equal(namedSet("x = pg.data.fashion_mnist()\ny = pg.data.shapes()"), undefined);
  assert.equal(namedSet("# pg.data.shapes()\nx = pg.data.mnist()"), "mnist");
});

/** @param {string} path @param {BlobPart[]} parts */
const file = (path, ...parts) => ({ path, blob: new Blob(parts) });

/** @param {string} name @param {Uint8Array<ArrayBuffer>} bytes */
const archive = (name, bytes) => zipped(new Map([[name, bytes]]), new Date(2026, 0, 1));

test("file types are recognized", async () => {
  const table = await takeIn([file("a.csv", "x,y\n1,2\n")]);
  assert.deepEqual(table, { kind: "table", name: "a.csv", text: "x,y\n1,2\n", isGuess: false });
  const array = writeNpy({ values: Float32Array.of(1, 2, 3, 4), shape: [2, 2] });
  assert.deepEqual(await takeIn([file("a.npy", array)]), {
    kind: "table",
    name: "a.npy",
    text: "1,2\n3,4",
    isGuess: false,
  });
  const arrays = await takeIn([file("d/x.npy", array), file("d/y.npy", array)]);
  assert.deepEqual(arrays.kind === "arrays" && [...arrays.arrays.keys()], ["x", "y"]);
  const inArchive = await takeIn([
    file("t.zip", archive("in/t.csv", new TextEncoder().encode("x,y\n1,2"))),
  ]);
  assert.deepEqual(inArchive, {
    kind: "table",
    name: "in/t.csv",
    text: "x,y\n1,2",
    isGuess: false,
  });
  const images = await takeIn(
    ["d/cat/1.png", "d/dog/2.JPG", "d/dog/.DS_Store", "d/notes.txt"].map((path) => file(path, "?")),
  );
  assert.deepEqual(
    images.kind === "images" && [
      images.classes,
      images.images.map(({ label }) => label),
      images.skipped,
    ],
    [["cat", "dog"], [0, 1], ["d/notes.txt: not a PNG, JPEG, GIF, WebP or BMP image"]],
  );
});

test("files of other types are refused with advice", async () => {
  const refused = (/** @type {string[]} */ paths, /** @type {RegExp} */ words) =>
    assert.rejects(takeIn(paths.map((path) => file(path, "content"))), words);
  await refused([], /no files here/);
  await refused(["a.xlsx"], /Save it as CSV/);
  await refused(["a.png"], /a single image/);
  await refused(["a.exe"], /of a kind that this page does not read/);
  await refused(["a.csv", "b.csv", "c.csv"], /3 files were chosen/);
  await refused(["d/1.png", "d/2.png"], /only one class/);
  await refused(["a.zip"], /not a ZIP archive/);
  await assert.rejects(takeIn([file("a.csv")]), /a\.csv is empty/);
  await assert.rejects(
    takeIn([file("a.zip", archive("b.doc", new Uint8Array(3)))]),
    /no images and no table/,
  );
  const bomb = new Blob([]);
  Object.defineProperty(bomb, "size", { value: 2 ** 31 });
  await assert.rejects(
    takeIn([{ path: "a.csv", blob: bomb }]),
    /has 2048 MiB, and this page reads at most 32 MiB/,
  );
});
