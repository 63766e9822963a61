/** What tests of the editor's language help share: the names of the library, and programs with a cursor. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Names } from "../../static/js/language/names.js";
import { Program } from "../../static/js/language/program.js";
import { pythonLanguage } from "../../static/vendor/codemirror.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The file that the server makes; test_modules.py has made it once for all of its tests. */
function readFile() {
  const { PLAYGRAD_NAMES: made } = process.env;
  if (made) return JSON.parse(readFileSync(made, "utf-8"));
  const script =
    "import sys; from playgrad.server.names import names_content; sys.stdout.buffer.write(names_content().plain)";
  const options = {
    cwd: root,
    env: { ...process.env, PYTHONPATH: `${root}/app` },
    maxBuffer: 1 << 26,
  };
  const result = spawnSync(`${root}/.venv/bin/python`, ["-c", script], options);
  if (result.status !== 0) throw new Error(String(result.stderr));
  return JSON.parse(String(result.stdout));
}

export const file = readFile();
export const names = new Names(file.names);

/** @param {string} code */
export const parse = (code) => pythonLanguage.parser.parse(code);

/** A program, and the place of the `|` in its text. @param {string} text */
export function withCursor(text) {
  const at = text.lastIndexOf("|");
  const code = text.slice(0, at) + text.slice(at + 1);
  return { program: new Program(code, parse(code), names), at };
}
