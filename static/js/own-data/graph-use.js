/** Puts a graph into the program in the editor. */

import { program } from "../cards/blocks-model.js";
import { changeText } from "../editor/editor-access.js";
import { openProgramFor } from "../gallery/examples.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { graphCall, graphChanges, graphProgram } from "./graph-line.js";

/** @import { GraphAbout } from "./user-data.js" */

/** Have the program load a graph, in one line. @param {string} name */
export function loadGraphInProgram(name) {
  const changes = graphChanges(program.value, name);
  const isThere = changes.length === 0 || changeText(changes);
  store.side.value = "build"; // on a phone, where the line is
  store.note(isThere ? t().dataGraphs.loads(name) : t().dataGraphs.locked(graphCall(name)));
}

/** Open a new program that trains on a graph. @param {string} name @param {GraphAbout} about */
export function beginGraphProgram(name, about) {
  openProgramFor(name, graphProgram(name, about));
  store.side.value = "build";
  store.note(t().data.use.begun(name));
}
