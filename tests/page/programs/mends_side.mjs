// Reads programs with the errors that ended them from standard input, in JSON; prints what Blocks says of each, and the
// programs with its mends.

import { readFileSync } from "node:fs";
import { applyChanges } from "../../../static/js/blocks/lists.js";
import { readProgram } from "../../../static/js/blocks/reader.js";
import { runProblem } from "../../../static/js/blocks/run-problem.js";
import { inferShapes } from "../../../static/js/blocks/shapes.js";

const answers = JSON.parse(readFileSync(0, "utf8")).map(({ text, error }) => {
  const program = readProgram(text);
  const problem = runProblem(program, inferShapes(program), error);
  return (
    problem && {
      card: problem.card,
      words: problem.words,
      mended: problem.mends.map(({ changes }) => applyChanges(text, changes)),
    }
  );
});
console.log(JSON.stringify(answers));
