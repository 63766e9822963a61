import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { deflateRawSync } from "node:zlib";
import { Curves } from "../../static/js/pictures/curves.js";
import {
  ProjectFileError,
  cleanName,
  decodeProject,
  encodeProject,
  fileNameOf,
} from "../../static/js/session/project-file.js";
import { fromText, toText } from "../../static/js/session/project-json.js";
import { isExampleId } from "../../static/js/session/session-shapes.js";
import { ZipReader, crc32, zipped } from "../../static/js/files/zip.js";

const WHEN = new Date(2026, 10, 23, 16, 0, 2);
const utf8 = new TextEncoder();
const curves = new Curves();
for (let step = 1; step <= 50; step += 1) curves.add(step, 1 / step, null);
const program = { exampleId: "spiral", source: "print(1)\n", began: 5 };
const SUMMARY = {
  created: 1,
  touched: true,
  name: "Spirale für 9b",
  exampleId: "spiral",
  title: "Spiral",
  edited: true,
  state: "stopped",
  step: 40,
  totalSteps: 200,
};

function sample() {
  return {
    summary: SUMMARY,
    codes: new Map([
      ["spiral", "print('Grüße')\n"],
      ["mnist-mlp", "pass"],
    ]),
    parts: new Map([
      [
        "run",
        {
          state: "stopped",
          program,
          fit: null,
          epochs: [],
          error: null,
          progress: {
            epoch: 1,
            step: 40,
            loss: NaN,
            accuracy: null,
            testLoss: Infinity,
            testAccuracy: -0,
            stepsPerSecond: null,
            seconds: 1,
            eta: null,
          },
        },
      ],
      ["curves", curves.save()],
      ["output", [{ text: "\u0000 <b>", stream: "stdout" }]],
      [
        "checkpoint",
        {
          bytes: Uint8Array.from({ length: 3000 }, (_, index) => (index * 37) & 255),
          step: 40,
          totalSteps: 200,
          epoch: 1,
          epochs: 5,
          parameters: 3,
          finished: false,
          at: 1,
          program,
          options: {},
        },
      ],
    ]),
    data: new Map([
      [
        "Blüten 2",
        {
          about: {
            kind: "table",
            shape: [4],
            train: 80,
            test: 20,
            classes: ["iris", "lily"],
            columns: ["petal", "sepal", "a", "b"],
          },
          bytes: Uint8Array.from({ length: 500 }, (_, index) => (index * 11) & 255),
        },
      ],
    ]),
  };
}

const saved = async () => new Uint8Array(await encodeProject(sample(), WHEN).arrayBuffer());
const asFile = (content, name = "a.playgrad") => new File([content], name);
const open = (content, name) => decodeProject(asFile(content, name));

/** The archive with some files replaced, added, or left out (null). */
async function changed(changes) {
  const archive = await ZipReader.open(new Blob([await saved()]));
  const files = new Map();
  for (const name of archive.names) files.set(name, await archive.read(name));
  for (const [name, content] of Object.entries(changes)) {
    if (content === null) files.delete(name);
    else files.set(name, typeof content === "string" ? utf8.encode(content) : content);
  }
  return zipped(files, WHEN);
}

async function aboutWith(changes) {
  const archive = await ZipReader.open(new Blob([await saved()]));
  const about = JSON.parse(new TextDecoder().decode(await archive.read("project.json")));
  return await changed({ "project.json": JSON.stringify({ ...about, ...changes }) });
}

test("a project comes back as it was", async () => {
  const { project, lost } = await open(await saved());
  assert.deepEqual(lost, []);
  assert.deepStrictEqual(project, sample());
  assert.ok(Object.is(project.parts.get("run").progress.testAccuracy, -0));
});

test("other programs can read the file, and a repacked one is opened", async () => {
  const folder = mkdtempSync(join(tmpdir(), "playgrad-"));
  try {
    const path = join(folder, "a.playgrad");
    writeFileSync(path, await saved());
    const script = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    assert archive.infolist()[0].date_time == (2026, 11, 23, 16, 0, 2)
    with zipfile.ZipFile(sys.argv[1] + ".zip", "w", zipfile.ZIP_DEFLATED) as repacked:
        repacked.comment = b"repacked"
        for name in reversed(archive.namelist()):
            repacked.writestr(name, archive.read(name))
    print(archive.read("code/spiral.py").decode(), end="")`;
    const output = execFileSync("python3", ["-X", "utf8", "-c", script, path], {
      encoding: "utf-8",
    });
    assert.equal(output, "print('Grüße')\n");
    const repacked = readFileSync(`${path}.zip`);
    assert.ok(repacked.length < (await saved()).length);
    assert.deepStrictEqual((await open(repacked)).project, sample());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a file that is cut anywhere is refused", async () => {
  const whole = await saved();
  for (let end = 4; end < whole.length; end += 97)
    await assert.rejects(open(whole.slice(0, end)), /“a.playgrad” is incomplete/);
  await assert.rejects(open(whole.slice(0, -1)), /Copy or download it again/);
});

test("no changed byte goes unnoticed", async () => {
  const whole = await saved();
  const { project: original } = await open(whole);
  let tried = 0;
  for (let at = 0; at < whole.length; at += 13) {
    const copy = whole.slice();
    copy[at] ^= 0x10;
    let outcome;
    try {
      outcome = await open(copy);
    } catch (problem) {
      assert.ok(problem instanceof ProjectFileError, `${at}: ${problem.stack}`);
      continue;
    }
    // Times and attributes of the archive do not matter. Everything else is as it was, or missed.
    if (outcome.lost.length === 0) assert.deepStrictEqual(outcome.project, original, String(at));
    for (const [name, value] of outcome.project.parts)
      assert.deepStrictEqual(value, original.parts.get(name));
    for (const [id, code] of outcome.project.codes) assert.equal(code, original.codes.get(id));
    tried += 1;
  }
  assert.ok(tried > 100);
});

test("a damaged part takes no other with it", async () => {
  const damages = {
    "not JSON": await changed({ "parts/curves.json": "{" }),
    "another form": await changed({ "parts/curves.json": '{"steps": 1}' }),
    missing: await changed({ "parts/curves.json": null }),
    "too deep": await changed({ "parts/curves.json": "[".repeat(100_000) }),
    "unknown tag": await changed({ "parts/curves.json": '{"$": "function", "values": []}' }),
  };
  for (const [damage, blob] of Object.entries(damages)) {
    const { project, lost } = await open(blob);
    assert.deepEqual(lost, ["curves"], damage);
    assert.deepEqual([...project.parts.keys()], ["run", "output", "checkpoint"]);
  }
  assert.deepEqual((await open(await changed({ "checkpoint.safetensors": null }))).lost, [
    "checkpoint",
  ]);
  const binary = await open(await changed({ "code/spiral.py": new Uint8Array([0xff, 0xfe, 0]) }));
  assert.deepEqual(binary.lost, ["code/spiral"]);
  assert.deepEqual([...binary.project.codes.keys()], ["mnist-mlp"]);
});

test("files of other kinds are refused, with advice", async () => {
  await assert.rejects(open(new Uint8Array(0)), /is empty/);
  const png = new Uint8Array([
    0x89,
    0x50,
    0x4e,
    0x47,
    0x0d,
    0x0a,
    0x1a,
    0x0a,
    ...new Array(100).fill(0),
  ]);
  await assert.rejects(
    open(png, "cat.png"),
    /“cat.png” is not a project of playgrad. Choose a file that ends in .playgrad/,
  );
  await assert.rejects(open(png, "w.npz"), /Weights are loaded at the end of Watch/);
  await assert.rejects(open(png, "net.py"), /Copy its code/);
  const other = zipped(new Map([["readme.txt", utf8.encode("hello")]]), WHEN);
  await assert.rejects(open(other), /is a zip archive, but not a project/);
  await assert.rejects(
    open(zipped(new Map([["project.json", utf8.encode("[]")]]), WHEN)),
    /is a zip archive, but not a project/,
  );
  await assert.rejects(
    open(zipped(new Map([["project.json", utf8.encode("{")]]), WHEN)),
    /is damaged/,
  );
});

test("a later version is named as such", async () => {
  await assert.rejects(
    open(await aboutWith({ version: 2, summary: "of another form" })),
    /later version of playgrad/,
  );
  await assert.rejects(open(await aboutWith({ version: 0 })), /damaged/);
});

test("a program of a file keeps its name", async () => {
  for (const id of ["file-my_net", "file-my_net 2", "file-Übung 3", "file-net.v2"]) {
    assert.ok(isExampleId(id), id);
    const blob = encodeProject(
      { ...sample(), summary: { ...SUMMARY, exampleId: id }, codes: new Map([[id, "pass"]]) },
      WHEN,
    );
    const { project, lost } = await decodeProject(new File([blob], "a.playgrad"));
    assert.deepEqual(lost, []);
    assert.equal(project.codes.get(id), "pass");
    assert.equal(project.summary.exampleId, id);
  }
});

test("malicious names in a file change nothing", async () => {
  const names = [
    "__proto__",
    "constructor",
    "../../etc/passwd",
    "a/../b",
    "..",
    "",
    "C:\\x",
    "x".repeat(200),
    "toString",
  ];
  for (const name of names) assert.equal(isExampleId(name), false, name);
  const files = Object.fromEntries(names.map((name) => [`code/${name}.py`, "print('hostile')"]));
  const archive = await ZipReader.open(
    await changed({ ...files, "parts/__proto__.json": '{"polluted": true}', "../outside": "x" }),
  );
  const all = new Map();
  for (const name of archive.names) all.set(name, await archive.read(name));
  const about = JSON.parse(new TextDecoder().decode(all.get("project.json")));
  about.code.push(...names);
  about.parts.push("__proto__", "constructor", "../run");
  const [facts] = Object.values(about.data);
  about.data = {
    ...about.data,
    "../../etc/passwd": facts,
    "": facts,
    mnist: facts,
    other: { kind: "table" },
  };
  all.set("project.json", utf8.encode(JSON.stringify(about)));
  const { project, lost } = await open(zipped(all, WHEN));
  assert.deepStrictEqual(project, sample());
  assert.deepEqual(lost, [
    ...names.map((name) => `code/${name}`),
    ...["../../etc/passwd", "", "mnist", "other"].map((name) => `data/${name}`),
  ]);
  assert.equal({}.polluted, undefined);
  await assert.rejects(
    open(await aboutWith({ summary: { ...SUMMARY, exampleId: "__proto__" } })),
    /damaged/,
  );
  const polluted = fromText('{"__proto__": {"polluted": true}, "a": 1}');
  assert.equal(polluted.polluted, undefined);
  assert.ok(Object.hasOwn(polluted, "__proto__"));
});

test("archives that expand to far more than a project are refused before they are unpacked", async () => {
  const header = bytesWith(await saved(), "parts/run.json", (view, at) =>
    view.setUint32(at + 24, 4e9, true),
  );
  await assert.rejects(open(header), /far more than a project/);

  const bomb = deflateRawSync(new Uint8Array(5_000_000));
  const small = await bombed("parts/output.json", bomb, 100);
  assert.deepEqual((await open(small)).lost, ["output"], "it expands to more than it says");
});

test("a part that is encrypted, or there twice, is missed, and the rest is read", async () => {
  const part = "parts/curves.json";
  const bytes = new Uint8Array(await (await changed({ "parts/curvez.json": "{}" })).arrayBuffer());
  const { lost, project } = await open(
    bytesWith(bytes, part, (view, at) => view.setUint16(at + 8, 1, true)),
  );
  assert.deepEqual(lost, ["curves"]);
  assert.deepEqual([...project.parts.keys()], ["run", "output", "checkpoint"]);
  const twice = bytesWith(bytes, "parts/curvez.json", (view, at) =>
    view.setUint8(at + 46 + part.indexOf("s.json"), 0x73),
  );
  assert.deepEqual((await open(twice)).lost, ["curves"]);
  const locked = bytesWith(bytes, "project.json", (view, at) => view.setUint16(at + 8, 1, true));
  await assert.rejects(
    open(locked),
    /is not a project of playgrad. Choose a file that ends in .playgrad/,
  );
});

test("an oversized project description is not unpacked", async () => {
  const bytes = bytesWith(await saved(), "project.json", (view, at) =>
    view.setUint32(at + 24, 2e9, true),
  );
  await assert.rejects(open(bytes), /far more than a project/);
});

/** A copy of an archive with a file changed in its directory. */
function bytesWith(whole, name, change) {
  const bytes = whole.slice();
  const view = new DataView(bytes.buffer);
  let at = view.getUint32(bytes.length - 6, true);
  const nameAt = () =>
    new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + view.getUint16(at + 28, true)));
  while (nameAt() !== name) at += 46 + view.getUint16(at + 28, true);
  change(view, at);
  return bytes;
}

/** A project with a deflated part that says a size. */
async function bombed(part, packed, size) {
  const blob = await changed({ [part]: packed });
  return bytesWith(new Uint8Array(await blob.arrayBuffer()), part, (view, at) => {
    view.setUint16(at + 10, 8, true);
    view.setUint32(at + 24, size, true);
  });
}

test("a file of a gigabyte is refused by its size", async () => {
  const big = { name: "film.playgrad", size: 2 ** 30, slice: () => assert.fail("it was read") };
  await assert.rejects(
    decodeProject(big),
    /“film.playgrad” is 1.0 GiB. Projects have at most 954 MiB/,
  );
});

test("a file that cannot be read is reported", async () => {
  const gone = {
    name: "a.playgrad",
    size: 1000,
    slice: () => ({
      arrayBuffer: () => Promise.reject(new DOMException("The file has gone.", "NotReadableError")),
    }),
  };
  await assert.rejects(
    decodeProject(gone),
    /could not be read: The file has gone. Choose it again/,
  );
});

test("names are of one line, and names of files suit every system", () => {
  assert.equal(cleanName("  a\n\tb \u202e c\u0000 "), "a b c");
  assert.equal(cleanName("x".repeat(500)).length, 80);
  assert.equal(fileNameOf("../../etc: «net» <1>"), "etc- -net- -1.playgrad");
  assert.equal(fileNameOf("..."), "project.playgrad");
  assert.equal(fileNameOf("Ziffern, größer"), "Ziffern, größer.playgrad");
});

test("JSON keeps numbers, columns and any names", () => {
  const value = {
    a: [NaN, -Infinity, -0, 0.1 + 0.2],
    b: Float64Array.of(1, NaN, Infinity),
    $: { $: "NaN", x: null },
  };
  assert.deepStrictEqual(fromText(toText(value)), value);
  assert.ok(Object.is(fromText(toText([-0]))[0], -0));
});

test("the checksum matches zip", () => {
  assert.equal(crc32(utf8.encode("123456789")), 0xcbf43926);
});
