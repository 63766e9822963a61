/** Draw graphs as the page opens them: a file of JSON views in, by name; the arrows of each drawing out. */

import { readFileSync } from "node:fs";
import { mainScopes, picture } from "../../../static/js/panels/graph/graph-model.js";

const views = JSON.parse(readFileSync(process.argv[2], "utf8"));
const drawings = Object.entries(views).map(([name, graph]) => {
  const arrows = [new Set(), new Set(mainScopes(graph))].map((open) =>
    picture(graph, open).arrows.map(({ from, to }) => [from, to]),
  );
  return [name, { folded: arrows[0], opened: arrows[1] }];
});
process.stdout.write(JSON.stringify(Object.fromEntries(drawings)));
