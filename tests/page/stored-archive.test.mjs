import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { filesIn } from "../../static/engine/stored-archive.js";

/** An archive as Python writes it. @param {string} kind of compression */
function archive(kind) {
  const program = `
import io, sys, zipfile
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.${kind}) as archive:
    archive.mkdir("empty")
    for name, content in {"a.py": b"print(1)", "b/ü.txt": b"", "b/long": bytes(range(256)) * 300}.items():
        archive.writestr(name, content)
sys.stdout.buffer.write(buffer.getvalue())
`;
  return new Uint8Array(execFileSync("python3", ["-c", program]));
}

test("the files of a stored archive are read, without folders", () => {
  const files = filesIn(archive("ZIP_STORED"));
  assert.deepEqual(
    files.map(([name, { length }]) => [name, length]),
    [
      ["a.py", 8],
      ["b/ü.txt", 0],
      ["b/long", 76_800],
    ],
  );
  assert.equal(new TextDecoder().decode(files[0][1]), "print(1)");
  assert.equal(files[2][1][257], 1);
});

test("what is compressed, cut or no archive is refused", () => {
  assert.throws(() => filesIn(archive("ZIP_DEFLATED")), /a\.py is compressed/);
  assert.throws(() => filesIn(archive("ZIP_STORED").slice(0, -30)), /not a zip archive/);
  assert.throws(() => filesIn(new Uint8Array(9)), /not a zip archive/);
  const damaged = archive("ZIP_STORED");
  damaged[damaged.length - 22 + 16] ^= 1;
  assert.throws(() => filesIn(damaged), /damaged/);
});
