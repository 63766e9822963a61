/** Keeps what a visitor has brought, and puts it into the program in the editor. */

import { program } from "../cards/blocks-model.js";
import { changeText } from "../editor/editor-access.js";
import { openProgramFor } from "../gallery/examples.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { closeDrawer } from "./drawer-state.js";
import { graphCall, graphChanges, graphProgram } from "./graph-line.js";
import { loadCall, modelChanges, modelProgram } from "./model-line.js";
import { loadChanges, starterProgram } from "./program-line.js";
import * as userData from "./user-data.js";

/** @import { StorageFailure } from "../session/session-database.js" */
/** @typedef {userData.Entry["about"]} About */

/** Have the program load it, in one line. @param {string} name @param {About} about */
export function loadInProgram(name, about) {
  const { changes, loads, locked } = line(name, about);
  const isThere = changes.length === 0 || changeText(changes);
  store.side.value = "build"; // on a phone, where the line is
  store.note(isThere ? loads : locked);
}

/** Open a new program that begins from it. @param {string} name @param {About} about */
export function beginProgram(name, about) {
  openProgramFor(name, starter(name, about));
  store.side.value = "build";
  store.note(about.kind === "model" ? t().dataModels.begun(name) : t().data.use.begun(name));
}

/**
 * Keep it in the browser, use it, and close the drawer.
 * @param {string} name
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {About} about
 * @param {(name: string, about: About) => void} use
 */
export async function keep(name, bytes, about, use) {
  const { failure } = await userData.keep(name, bytes, about);
  use(name, about);
  closeDrawer();
  if (failure) store.note(inMemory(failure));
}

/** Why it is not kept. @param {StorageFailure} failure */
export const inMemory = ({ reason, message }) =>
  reason === "full" ? t().data.kept.full : t().data.kept.notStored(message);

/**
 * The changes that make the program load it, and what is said then, or of a program that cannot be changed.
 * @param {string} name @param {About} about
 */
function line(name, about) {
  if (about.kind === "model") {
    const model = { name, length: about.sequence_length };
    const { loads, locked } = t().dataModels;
    const changes = modelChanges(program.value, model);
    return { changes, loads: loads(name), locked: locked(loadCall(model)) };
  }
  if (about.kind === "graph") {
    const { loads, locked } = t().dataGraphs;
    const changes = graphChanges(program.value, name);
    return { changes, loads: loads(name), locked: locked(graphCall(name)) };
  }
  const { loads, locked } = t().data.use;
  return { changes: loadChanges(program.value, name), loads: loads(name), locked: locked(name) };
}

/** @param {string} name @param {About} about */
function starter(name, about) {
  if (about.kind === "model") return modelProgram(name, about);
  if (about.kind === "graph") return graphProgram(name, about);
  return starterProgram(name, about);
}
