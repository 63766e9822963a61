// Reads programs from standard input, a list of texts in JSON; prints what Blocks knows of them.

import { readFileSync } from "node:fs";
import { readProgram } from "../../static/js/blocks/reader.js";
import { inferShapes } from "../../static/js/blocks/shapes.js";
import { SIGNATURES, parametersOf } from "../../static/js/blocks/signatures.js";

const programs = JSON.parse(readFileSync(0, "utf8")).map((text) => {
  const program = readProgram(text);
  const results = inferShapes(program);
  return program.networks.map(({ items }) =>
    items.map(({ id, call }) => ({ kind: call?.kind ?? "code", ...results.get(id) })));
});
const signatures = Object.fromEntries(Object.keys(SIGNATURES).map((name) => [name, parametersOf(name)]));
console.log(JSON.stringify({ programs, signatures }));
