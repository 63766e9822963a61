// Writes the bundled examples in Chinese, by name, and the replacements of the programs' texts.

import { readFileSync, readdirSync } from "node:fs";
import { EXAMPLES, TEXTS } from "../../../static/js/messages/zh-hans-examples.js";
import { translated } from "../../../static/js/gallery/program-translation.js";

const folder = new URL("../../../static/examples/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".py"));
const programs = names.map((name) => {
  const words = EXAMPLES[name.slice(0, -3)];
  return [name, translated(readFileSync(new URL(name, folder), "utf8"), words, TEXTS)];
});
process.stdout.write(JSON.stringify({ programs: Object.fromEntries(programs), texts: TEXTS }));
