import assert from "node:assert/strict";
import test from "node:test";
import { LinkError, decode, encode } from "../../static/js/sharing/link.js";
import { lineLocks, linesOf, replacement, showing } from "../../static/js/editor/editor-locks.js";
import { en } from "../../static/js/messages/en.js";
import { locksHere, unlockCopy } from "../../static/js/sharing/locks.js";
import * as store from "../../static/js/state/store.js";
import {
  MOST_RANGES,
  areRanges,
  changesAround,
  fit,
  relocate,
  spansOf,
  withRange,
} from "../../static/js/editor/line-locks.js";
import {
  EditorState,
  history,
  indentMore,
  insertNewlineAndIndent,
  moveLineDown,
  redo,
  selectAll,
  toggleComment,
  undo,
} from "../../static/vendor/codemirror.js";

const CODE = "import a\n\nx = 1\ny = 2\n\nz = 3";

const SHARED = {
  version: 1,
  exampleId: "spiral",
  title: "Spirals",
  code: CODE,
  device: "cpu",
  view: "training",
  lab: null,
  expected: null,
};

test("a link brings its locked lines, and older ones have none", async () => {
  const lesson = {
    ...SHARED,
    locked: [
      [1, 1],
      [3, 6],
    ],
  };
  assert.deepEqual(await decode(await encode(lesson)), lesson);
  assert.equal((await decode(await encode(SHARED))).locked, undefined);
});

test("a link with damaged ranges is refused as a whole", async () => {
  const many = Array.from({ length: 10_000 }, (_, at) => [at + 1, at + 1]);
  const wrong = [
    "1-3",
    null,
    [1, 3],
    [[1]],
    [[1, 2, 3]],
    [["1", "3"]],
    [[0, 2]],
    [[-1, 2]],
    [[1.5, 2]],
    [[3, 2]],
    [
      [1, 3],
      [3, 4],
    ],
    [
      [4, 5],
      [1, 2],
    ],
    [[1, null]],
    [[1, 1e300]],
    many,
  ];
  for (const locked of wrong) {
    await assert.rejects(
      decode(await encode({ ...SHARED, locked })),
      LinkError,
      JSON.stringify(locked).slice(0, 60),
    );
  }
  await assert.rejects(
    decode(await encode({ ...SHARED, locked: [[2, 7]] })),
    /locks lines that its program does not have/,
  );
  await assert.rejects(
    decode(await encode({ ...SHARED, code: "", locked: [[1, 2]] })),
    /does not have/,
  );
});

test("ranges are counted, and touch without overlapping", () => {
  assert.ok(
    areRanges([]) &&
      areRanges([
        [1, 2],
        [3, 3],
      ]),
  );
  const most = Array.from({ length: MOST_RANGES }, (_, at) => [2 * at + 1, 2 * at + 1]);
  assert.ok(areRanges(most));
  assert.ok(!areRanges([...most, [9999, 9999]]));
  assert.ok(
    fit(CODE, [[1, 6]]) && fit(CODE.replaceAll("\n", "\r\n"), [[6, 6]]) && !fit(CODE, [[6, 7]]),
  );
});

test("newly locked lines are merged with their neighbours", () => {
  assert.deepEqual(withRange([], [3, 4]), [[3, 4]]);
  assert.deepEqual(
    withRange(
      [
        [1, 1],
        [8, 9],
      ],
      [3, 4],
    ),
    [
      [1, 1],
      [3, 4],
      [8, 9],
    ],
  );
  assert.deepEqual(
    withRange(
      [
        [1, 2],
        [5, 6],
        [9, 9],
      ],
      [3, 5],
    ),
    [
      [1, 6],
      [9, 9],
    ],
  );
  assert.deepEqual(withRange([[2, 3]], [1, 9]), [[1, 9]]);
});

test("ranges are described in words", () => {
  assert.equal(en.locks.lines([[3, 3]]), "Line 3");
  assert.equal(en.locks.lines([[3, 7]]), "Lines 3–7");
  assert.equal(
    en.locks.lines([
      [1, 1],
      [3, 7],
      [9, 9],
    ]),
    "Lines 1, 3–7 and 9",
  );
});

test("positions of lines leave out the last break, with any kind of break", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const code = CODE.replaceAll("\n", end);
    const texts = spansOf(code, [
      [1, 1],
      [2, 2],
      [3, 4],
      [6, 6],
    ]).map(({ from, to }) => code.slice(from, to));
    assert.deepEqual(texts, ["import a", "", `x = 1${end}y = 2`, "z = 3"]);
  }
  assert.deepEqual(spansOf(CODE, [[6, 7]]), []);
});

test("locked lines are recognized in another version only whole and in order", () => {
  assert.deepEqual(
    relocate(CODE, `# new\n${CODE}`, [
      [1, 1],
      [3, 4],
    ]),
    [
      [2, 2],
      [4, 5],
    ],
  );
  assert.deepEqual(
    relocate(CODE, "import a\nx = 1", [
      [1, 1],
      [3, 4],
    ]),
    [[1, 1], null],
  );
  assert.deepEqual(
    relocate(CODE, "x = 1\ny = 2\nimport a", [
      [1, 1],
      [3, 4],
    ]),
    [[3, 3], null],
  );
  assert.deepEqual(relocate(CODE, "import a # b", [[1, 1]]), [null]);
  assert.deepEqual(
    relocate("a\na", "a", [
      [1, 1],
      [2, 2],
    ]),
    [[1, 1], null],
    "each line stands for itself",
  );
});

test("changes around locked lines give the other version, and leave the lines alone", () => {
  const after = "# first\nimport a\nnew\nx = 1\ny = 2\nz = 4\n";
  const changes = changesAround(CODE, after, [
    [1, 1],
    [3, 4],
  ]);
  const state = EditorState.create({ doc: CODE });
  assert.equal(state.update({ changes }).state.doc.toString(), after);
  for (const { from, to } of spansOf(CODE, [
    [1, 1],
    [3, 4],
  ])) {
    assert.ok(changes.every((change) => change.to <= from || change.from >= to));
  }
  assert.deepEqual(changesAround(CODE, CODE, [[1, 1]]), []);
});

/** An editor without a window: commands and transactions of the same kind. */
class Editor {
  constructor(doc, lines, isHeld = true) {
    this.state = EditorState.create({ doc, extensions: [history(), lineLocks] });
    this.dispatch = (...specs) => {
      const transaction = specs[0].state ? specs[0] : this.state.update(...specs);
      this.state = transaction.state;
    };
    this.dispatch({ effects: showing(lines, isHeld) });
  }

  get text() {
    return this.state.doc.toString();
  }

  /** What each locked range reads. */
  get locked() {
    return linesOf(this.state).map(([from, to]) =>
      this.text
        .split("\n")
        .slice(from - 1, to)
        .join("\n"),
    );
  }

  at(line, column = 0) {
    this.dispatch({ selection: { anchor: this.state.doc.line(line).from + column } });
    return this;
  }

  change(from, to, insert, more = {}) {
    this.dispatch({ changes: { from, to, insert }, ...more });
    return this.text;
  }
}

const LESSON = "a = 1\n\ndef f():\n    return a\n\nb = 2";

test("typing, pasting and deleting in locked lines changes nothing", () => {
  const dense = "a = 1\nx = 2\ndef f():\n    return a\ny = 3\nb = 2";
  const editor = new Editor(dense, [[3, 4]]);
  const [from, to] = [editor.state.doc.line(3).from, editor.state.doc.line(4).to];
  for (let at = from + 1; at < to; at += 1) assert.equal(editor.change(at, at, "!"), dense);
  for (const [start, end, insert] of [
    [from, from, "x"],
    [to, to, "x"],
    [from - 1, from, ""],
    [to, to + 1, ""],
    [0, dense.length, ""],
    [0, dense.length, dense.toUpperCase()],
    [2, to + 3, ""],
    [from - 1, to + 1, "\n"],
    [from, to, ""],
    [from, from, "x\ny"],
    [to, to, "x\ny"],
  ])
    assert.equal(
      editor.change(start, end, insert),
      dense,
      `${start}–${end} ${JSON.stringify(insert)}`,
    );
  for (const command of [indentMore, toggleComment, moveLineDown]) {
    command(editor.at(3, 2));
    assert.equal(editor.text, dense, command.name);
  }
  selectAll(editor);
  editor.dispatch(editor.state.replaceSelection("gone"));
  assert.equal(editor.text, dense);
});

test("a change in several places is made as a whole or not at all", () => {
  const editor = new Editor(LESSON, [[3, 4]]);
  const all = [...LESSON.matchAll(/a\b/g)].map(({ index }) => ({
    from: index,
    to: index + 1,
    insert: "c",
  }));
  editor.dispatch({ changes: all });
  assert.equal(editor.text, LESSON);
  editor.dispatch({ changes: all.slice(0, 1) });
  assert.equal(editor.text, LESSON.replace("a", "c"));
});

test("replacing all matches leaves those in locked lines, and says how many", () => {
  const editor = new Editor(LESSON, [[3, 4]]);
  const replaced = [];
  const dispatch = editor.dispatch;
  editor.dispatch = (...specs) => {
    const { effects } = specs[0].state ? specs[0] : editor.state.update(...specs);
    replaced.push(...effects.flatMap(({ value }) => (value?.left === undefined ? [] : [value])));
    dispatch(...specs);
  };
  const replace = (pattern, insert) => {
    const matches = [...editor.text.matchAll(pattern)].map(({ index, 0: { length } }) => ({
      from: index,
      to: index + length,
      insert,
    }));
    editor.dispatch({ changes: matches, userEvent: "input.replace.all" });
  };
  replace(/\b[ab]\b/g, "long_name");
  assert.equal(
    editor.text,
    LESSON.replace("a = 1", "long_name = 1").replace("b = 2", "long_name = 2"),
  );
  assert.deepEqual(replaced, [{ replaced: 2, left: 1 }]);
  assert.equal(en.locks.replaced(2, 1), "2 replaced, 1 is locked.");
  assert.ok(undo(editor));
  assert.equal(editor.text, LESSON, "one step of the history");
  replace(/return/g, "pass");
  assert.equal(editor.text, LESSON, "nothing is left to be replaced");
  replace(/\n/g, "");
  assert.deepEqual(
    editor.locked,
    ["def f():\n    return a"],
    "lines are not joined to locked ones",
  );
});

test("unlocking a copy ends the note of the link, unless it has more to say", () => {
  const locked = { spiral: { lines: [[1, 1]], isHeld: true } };
  for (const [more, isLeft] of [
    [{}, false],
    [{ hidden: [] }, false],
    [{ hidden: ["lab"] }, true],
    [{ expected: { losses: [[1, 1]], steps: 1, device: "cpu" } }, true],
  ]) {
    store.exampleId.value = "spiral";
    store.locks.value = locked;
    store.shared.value = { ...SHARED, ...more };
    assert.equal(locksHere.value.isHeld, true);
    unlockCopy();
    assert.equal(locksHere.value.isHeld, false);
    assert.equal(store.shared.value !== null, isLeft, JSON.stringify(more));
  }
  store.shared.value = null;
});

test("edits elsewhere move the ranges, and undo and redo take only those back", () => {
  const editor = new Editor(LESSON, [
    [3, 4],
    [6, 6],
  ]);
  editor.change(0, 0, "import x\n\n");
  insertNewlineAndIndent(editor.at(6, "    return a".length));
  editor.dispatch(editor.state.replaceSelection("c = 3"));
  const { locked, text } = editor;
  assert.deepEqual(locked, ["def f():\n    return a", "b = 2"]);
  assert.deepEqual(linesOf(editor.state), [
    [5, 6],
    [9, 9],
  ]);
  while (undo(editor)) assert.deepEqual(editor.locked, locked);
  assert.equal(editor.text, LESSON);
  while (redo(editor)) assert.deepEqual(editor.locked, locked);
  assert.equal(editor.text, text);
});

test("lines can be added at both ends of the program, and around an empty line", () => {
  const editor = new Editor("a\n\nb", [[1, 3]]);
  editor.change(4, 4, "\nc");
  editor.change(0, 0, "first\n");
  assert.equal(editor.text, "first\na\n\nb\nc");
  const empty = new Editor("a\n\nb", [[2, 2]]);
  empty.change(2, 2, "x\n");
  assert.deepEqual([empty.text, linesOf(empty.state)], ["a\nx\n\nb", [[3, 3]]]);
  empty.change(4, 4, "y");
  assert.equal(empty.text, "a\nx\n\nb");
  empty.change(1, 5, "");
  assert.equal(empty.text, "a\nx\n\nb");
});

test("random edits leave locked lines whole and in order", () => {
  let seed = 7;
  const random = (below) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  let [made, refused] = [0, 0];
  for (let round = 0; round < 60; round += 1) {
    const lines = Array.from({ length: 12 }, (_, at) => (random(4) ? `line ${at}` : ""));
    const editor = new Editor(lines.join("\n"), [
      [2, 3],
      [5, 5],
      [6, 6],
      [9, 11],
    ]);
    const { locked } = editor;
    for (let turn = 0; turn < 40; turn += 1) {
      const { text } = editor;
      const length = text.length + 1;
      const from = random(length);
      const to = Math.min(text.length, from + [0, 0, 1, 3, 9][random(5)]);
      editor.change(from, to, ["", "\n", "x", "x\n", "\nx", "\n\n", "x\ny"][random(7)]);
      if (editor.text === text) refused += 1;
      else made += 1;
      if (!random(9)) (random(2) ? undo : redo)(editor);
      assert.deepEqual(editor.locked, locked);
    }
  }
  assert.ok(made > 300 && refused > 300, `${made} made, ${refused} refused`);
});

test("the author edits locked lines, and the ranges follow", () => {
  const editor = new Editor(LESSON, [[3, 4]], false);
  editor.change(editor.state.doc.line(3).to, editor.state.doc.line(3).to, "\n    # why");
  assert.deepEqual(linesOf(editor.state), [[3, 5]]);
  editor.change(editor.state.doc.line(3).from, editor.state.doc.line(3).from, "@g\n");
  assert.deepEqual(linesOf(editor.state), [[4, 6]]);
  editor.change(0, editor.text.length, "all new");
  assert.deepEqual(linesOf(editor.state), []);
});

test("a version from elsewhere takes the place of the program around locked lines", () => {
  const editor = new Editor(LESSON, [[3, 4]]);
  const other = "# other\ndef f():\n    return a\nb = 3\n";
  editor.dispatch({ changes: replacement(editor.state, other) });
  assert.deepEqual([editor.text, linesOf(editor.state)], [other, [[2, 3]]]);
  editor.dispatch({ changes: replacement(editor.state, "none of it") });
  assert.equal(editor.text, other);
});
