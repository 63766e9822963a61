/** Puts a model into the program in the editor. */

import { program } from "../cards/blocks-model.js";
import { changeText } from "../editor/editor-access.js";
import { openProgramFor } from "../gallery/examples.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { loadCall, modelChanges, modelProgram } from "./model-line.js";

/** @import { ModelFile } from "../../engine/messages.js" */

/** Have the program load a model, in one line. @param {string} name @param {ModelFile} about */
export function loadModelInProgram(name, { sequence_length: length }) {
  const model = { name, length };
  const changes = modelChanges(program.value, model);
  const isThere = changes.length === 0 || changeText(changes);
  store.side.value = "build"; // on a phone, where the line is
  store.note(isThere ? t().dataModels.loads(name) : t().dataModels.locked(loadCall(model)));
}

/** Open a new program that shows a model. @param {string} name @param {ModelFile} about */
export function beginModelProgram(name, about) {
  openProgramFor(name, modelProgram(name, about));
  store.side.value = "build";
  store.note(t().dataModels.begun(name));
}
