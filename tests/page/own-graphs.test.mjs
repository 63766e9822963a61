/** Graphs of the visitor: two tables, the line that is written, and whole programs. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { applyChanges } from "../../static/js/blocks/lists.js";
import { readProgram } from "../../static/js/blocks/reader.js";
import { zipped } from "../../static/js/files/zip.js";
import { GRAPH_FILES } from "../../static/js/messages/zh-hans-engine.js";
import { loadedGraphs } from "../../static/js/own-data/data-names.js";
import { exchanged, seemsEdges } from "../../static/js/own-data/graph-file.js";
import { graphChanges, graphProgram } from "../../static/js/own-data/graph-line.js";
import { takeIn } from "../../static/js/own-data/intake.js";
import { isAbout, isGraphAbout } from "../../static/js/own-data/user-data.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NODES = "id,age,class\na,1,x\nb,2,y\n";
const EDGES = "source,target\na,b\n";

/** @param {string} path @param {string} text */
const item = (path, text) => ({ path, blob: new Blob([text]) });

test("two tables are a graph, chosen together or in an archive", async () => {
  for (const items of [
    [item("people.csv", NODES), item("calls.tsv", EDGES)],
    [item("both.zip", "")],
  ]) {
    if (items.length === 1)
      items[0].blob = zipped(
        new Map([
          ["people.csv", new TextEncoder().encode(NODES)],
          ["calls.tsv", new TextEncoder().encode(EDGES)],
        ]),
        new Date(1980, 0, 1),
      );
    const draft = await takeIn(items);
    assert.equal(draft.kind, "graph");
    if (draft.kind !== "graph") return;
    assert.deepEqual(
      draft.files.map(({ name, bytes }) => [name, new TextDecoder().decode(bytes)]),
      [
        ["people.csv", NODES],
        ["calls.tsv", EDGES],
      ],
    );
  }
  await assert.rejects(takeIn([item("a.csv", NODES), item("b.csv", "")]), /b\.csv is empty/);
  await assert.rejects(takeIn([item("a.csv", NODES), item("b.txt", "x"), item("c.csv", "y")]), {
    message: /3 files were chosen.*a graph is two/,
  });
});

test("a table of edges is recognized by its columns", () => {
  assert.ok(seemsEdges(["From", "To", "weight"]) && seemsEdges(["target", "src"]));
  assert.ok(!seemsEdges(["from", "date"]) && !seemsEdges(["id", "target"]));
});

test("the nodes may be in the other file", () => {
  const sides = [
    { rows: 2, columns: ["who", "note", "age"], usable: [true, false, true] },
    { rows: 1, columns: ["p", "q"], usable: [true, true] },
  ];
  const choice = { id: "p", label: "q", features: [], source: "who", target: "note" };
  assert.deepEqual(exchanged(sides, { ...choice, nodes: 1, directed: true }), {
    nodes: 0,
    id: "who",
    label: null,
    features: ["age"],
    source: "p",
    target: "q",
    directed: true,
  });
});

test("a line loads a graph, in place of another one", () => {
  const loading = (/** @type {string} */ text) =>
    applyChanges(text, graphChanges(readProgram(text), "friends"));
  assert.equal(
    loading("import playgrad as pg\nx = 1\n"),
    'import playgrad as pg\n\ngraph = pg.data.load_graph("friends")\nx = 1\n',
  );
  const one = 'from playgrad import data\ng = data.load_graph("old")  # mine\n';
  assert.equal(loading(one), one.replace("old", "friends"));
  assert.equal(loading(loading(one)), loading(one));
  assert.deepEqual(
    loadedGraphs(
      'g = pg.data.load_graph("a b")\n# data.load_graph("no")\npg.data.load_graph("./x.npz")\ndata.load_graph("y.npz")',
    ),
    ["a b"],
  );
});

test("what the browser keeps of a graph has bounds", () => {
  const about = { kind: "graph", nodes: 3, edges: 2, known: 2, features: 1, plain: true };
  assert.ok(isGraphAbout({ ...about, classes: ["p", "q"] }));
  assert.ok(!isAbout({ ...about, classes: [] }) && !isGraphAbout(about));
  assert.ok(!isGraphAbout({ ...about, classes: [], nodes: -1 }));
  assert.ok(!isGraphAbout({ ...about, classes: [], edges: 1e300 }));
});

/** @param {string} code of Python @param {string} [folder] */
function python(code, folder = ROOT) {
  const env = { ...process.env, PYTHONPATH: `${ROOT}/app` };
  const ran = spawnSync(`${ROOT}/.venv/bin/python`, ["-c", code], { cwd: folder, env });
  assert.equal(ran.status, 0, String(ran.stderr));
  return String(ran.stdout);
}

test("the programs run, and classify or estimate nodes", () => {
  const folder = mkdtempSync(join(tmpdir(), "graphs-"));
  const programs = {
    classes: graphProgram("classes", { classes: ["p", "q"], known: 54, plain: true }),
    few: graphProgram("classes", { classes: ["p", "q"], known: 9, plain: false }),
    numbers: graphProgram("numbers", { classes: [], known: 54, plain: false }),
    scattered: graphProgram("scattered", { classes: ["p", "q"], known: 20, plain: true }),
    alike: graphProgram("alike", { classes: [], known: 5, plain: false }),
  };
  for (const [name, program] of Object.entries(programs))
    writeFileSync(join(folder, `${name}.txt`), program);
  const output = python(
    `import playgrad as pg
edges = "source,target\\n" + "".join(f"v{i},v{(i + 2) % 60}\\n" for i in range(60))
known = [i for i in range(60) if i % 10 < 9]
classes = "id,n,y\\n" + "".join(f"v{i},{i % 2 + i % 5 / 10},{'pq'[i % 2] if i in known else ''}\\n" for i in range(60))
numbers = "id,k,y\\n" + "".join(f"v{i},{'pq'[i % 2]},{i % 2 + i % 5 / 10 if i in known else ''}\\n" for i in range(60))
pg.data.graph_from_csv(classes.encode(), edges.encode()).save("classes")
pg.data.graph_from_csv(numbers.encode(), edges.encode()).save("numbers")
import numpy as np
some = np.flatnonzero(np.random.default_rng(0).random(60) < 0.8)[:20]
scattered = "id,y\\n" + "".join(f"v{i},{'pq'[i % 2] if i in some else ''}\\n" for i in range(60))
alike = "id,k,y\\n" + "".join(f"v{i},{i},{1.5 if i < 5 else ''}\\n" for i in range(60))
pg.data.graph_from_csv(scattered.encode(), edges.encode()).save("scattered")
pg.data.graph_from_csv(alike.encode(), edges.encode()).save("alike")
for name in ("classes", "few", "numbers", "scattered", "alike"):
    print(name)
    exec(compile(open(name + ".txt").read(), name, "exec"), {})
`,
    folder,
  );
  rmSync(folder, { recursive: true });
  assert.match(output, /^classes\nright: (9\d|100)% of the nodes that test\nv9: q\n/);
  assert.match(output, /few\nright: (9\d|100)% of the nodes that train\n/);
  assert.match(output, /numbers\nmean error: 0\.\d+\nv9: [01]\.\d+\n/);
  assert.match(output, /scattered\nright: \d+% of the nodes that test\n/);
  assert.match(output, /alike\nmean error: [\d.e-]+\nv5: \d/);
});

test("errors of Python about two tables have a sentence in Chinese", () => {
  const codes = python(
    `import re, pathlib
text = "".join(pathlib.Path("app/playgrad", each).read_text() for each in (
    "data/graph_csv.py", "data/graph_table.py", "page/questions/graph_files.py"))
print(*re.findall(r'(?:error|at_row)\\(\\s*"([a-z-]+)"', text), "large-file", *re.findall(r'"(table-[a-z-]+)"', pathlib.Path("app/playgrad/data/text_table.py").read_text()))`,
  )
    .trim()
    .split(" ");
  const known = new Set(codes.map((code) => (code.startsWith("table-") ? code : `graph-${code}`)));
  known.delete("graph-no-names"); // of programs: the page chooses columns
  known.add("graph-not-number").add("graph-empty-cell"); // chosen by the cell
  assert.deepEqual([...known].sort(), Object.keys(GRAPH_FILES).sort());
  const values = { file: "f.csv", line: 3, name: "n", nodes: "g.csv" };
  assert.equal(GRAPH_FILES["graph-unknown-node"](values), "f.csv 第 3 行：g.csv 中没有节点“n”。");
  for (const words of Object.values(GRAPH_FILES)) assert.match(words(values), /^f\.csv/);
});
