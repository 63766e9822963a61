/** Puts a data set into the program in the editor. */

import { program } from "../cards/blocks-model.js";
import { changeText } from "../editor/editor-access.js";
import { openProgramFor } from "../gallery/examples.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { loadChanges, starterProgram } from "./program-line.js";

/** @import { About } from "./user-data.js" */

/** Have the program load a data set, in one line. @param {string} name */
export function loadInProgram(name) {
  const changes = loadChanges(program.value, name);
  const isThere = changes.length === 0 || changeText(changes);
  store.side.value = "build"; // on a phone, where the line is
  store.note(isThere ? t().data.use.loads(name) : t().data.use.locked(name));
}

/** Open a new program that trains on a data set. @param {string} name @param {About} about */
export function beginProgram(name, about) {
  openProgramFor(name, starterProgram(name, about));
  store.side.value = "build";
  store.note(t().data.use.begun(name));
}
