// Reads programs from standard input, a list of texts in JSON; prints what Blocks knows of them.

import { readFileSync } from "node:fs";
import { METRICS } from "../../../static/js/blocks/catalogue.js";
import { setData } from "../../../static/js/blocks/data-change.js";
import { SETS } from "../../../static/js/blocks/data.js";
import { applyChanges } from "../../../static/js/blocks/lists.js";
import { readProgram } from "../../../static/js/blocks/reader.js";
import { inferShapes } from "../../../static/js/blocks/shapes.js";
import { SIGNATURES } from "../../../static/js/records/layers.js";
import { parametersOf } from "../../../static/js/blocks/signatures.js";

/** A program with each other data set that it can have. @param {string} text */
function switched(text) {
  const program = readProgram(text);
  if (program.data.length !== 1 || !Object.hasOwn(SETS, program.data[0].kind)) return {};
  return Object.fromEntries(
    Object.keys(SETS).flatMap((kind) => {
      const { changes } = setData(program, program.data[0], kind);
      return changes ? [[kind, applyChanges(text, changes)]] : [];
    }),
  );
}

const texts = JSON.parse(readFileSync(0, "utf8"));
const programs = texts.map((text) => {
  const program = readProgram(text);
  const results = inferShapes(program);
  return program.networks.map(({ items }) =>
    items.map(({ id, call }) => ({ kind: call?.kind ?? "code", ...results.get(id) })),
  );
});
const signatures = Object.fromEntries(
  Object.keys(SIGNATURES).map((name) => [name, parametersOf(name)]),
);
const metrics = Object.values(METRICS)
  .flat()
  .map(({ name }) => name);
console.log(
  JSON.stringify({ programs, signatures, metrics, sets: SETS, switched: texts.map(switched) }),
);
