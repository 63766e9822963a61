/** Draw graphs as the page opens them: a line for each list of JSON views in, one for the arrows of its drawings out. */

import { createInterface } from "node:readline";
import { mainScopes, picture } from "../../../static/js/panels/graph/graph-model.js";

for await (const line of createInterface({ input: process.stdin })) {
  const drawings = JSON.parse(line).flatMap((graph) =>
    [new Set(), new Set(mainScopes(graph))].map((open) =>
      picture(graph, open).arrows.map(({ from, to }) => [from, to]),
    ),
  );
  console.log(JSON.stringify(drawings));
}
