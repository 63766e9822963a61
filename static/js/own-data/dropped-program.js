/** Programs that are dropped on the page as files. */

import { openProgramOf } from "../gallery/examples.js";
import { bytes } from "../words/format.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** The longest program that a file can have, in bytes: far more than the editor is comfortable with. */
export const MOST_BYTES = 500_000;
/** The longest name of a program, in characters. */
const LONGEST_NAME = 60;

/**
 * Open a program, beside the others, or say why not. It is not run.
 * @param {File} file
 */
export async function openProgramFile(file) {
  try {
    const code = await codeOf(file);
    store.projectProblem.value = "";
    openProgramOf(nameOf(file), code);
    store.side.value = "build"; // on a phone, where the code is
    store.note(t().editor.fileOpened(file.name));
  } catch (failure) {
    store.projectProblem.value =
      failure instanceof Refusal
        ? failure.message
        : t().editor.fileUnreadable(file.name, /** @type {Error} */ (failure).message);
  }
}

/** Why a file is no program, in a sentence. */
class Refusal extends Error {}

/** @param {File} file */
const nameOf = ({ name }) => name.replace(/\.py$/i, "").slice(0, LONGEST_NAME).trim() || "program";

/** @param {File} file @returns {Promise<string>} with "\n" between lines */
async function codeOf(file) {
  const words = t().editor;
  if (file.size > MOST_BYTES)
    throw new Refusal(words.fileLarge(file.name, bytes(file.size), bytes(MOST_BYTES)));
  const content = await file.arrayBuffer();
  const code = decoded(content);
  if (code === null || code.includes("\0")) throw new Refusal(words.fileNoText(file.name));
  if (code.trim() === "") throw new Refusal(words.fileEmpty(file.name));
  return code.replace(/\r\n?/g, "\n");
}

/** @param {ArrayBuffer} content @returns {string | null} null if it is not UTF-8 */
function decoded(content) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return null;
  }
}
