/** Reads programs as a JSON list, writes for each what the bridge makes of it and what it says. */

import { Names } from "../../../static/js/language/names.js";
import { Program } from "../../../static/js/language/program.js";
import { Translator } from "../../../static/js/language/translator.js";
import { changed, findProblems, translate } from "../../../static/js/language/bridging.js";
import { pythonLanguage } from "../../../static/vendor/codemirror.js";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { file, programs } = JSON.parse(Buffer.concat(chunks).toString());
const names = new Names(file.names);
const translator = new Translator(file.bridge, names);
const parse = (code) => pythonLanguage.parser.parse(code);
const problems = (code) =>
  findProblems(new Program(code, parse(code), names, translator), translator).map(
    ({ message, changes }) => ({ message, fixable: Boolean(changes?.length) }),
  );

process.stdout.write(
  JSON.stringify(
    programs.map((code) => {
      const fixed = translate(code, parse, names, translator).reduce(changed, code);
      return { before: problems(code), fixed, after: problems(fixed) };
    }),
  ),
);
