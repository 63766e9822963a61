/** Saves a session as a file without opening it. */

import { offer } from "../files/download.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { dataOf } from "./project-data.js";
import { ProjectFileError, encodeProject, fileNameOf } from "./project-file.js";
import { toText } from "./project-json.js";
import { database } from "./session-database.js";
import { isReadable, sessions } from "./session-list.js";
import { titleOf } from "./session-notes.js";
import { ASIDE } from "./session-parts.js";
import { isExampleId } from "./session-shapes.js";

/** @import { Project } from "./project-file.js" */

/** @param {string} id @throws {import("./session-database.js").StorageFailure | ProjectFileError} */
export async function saveSession(id) {
  const { project, lost } = await readableOf(id);
  const { data, left } = await dataOf(project.codes.values());
  const { name, title } = project.summary;
  offer(fileNameOf(name || title), encodeProject({ ...project, data }, new Date()));
  const sentences = [];
  if (lost.length > 0) sentences.push(t().sessions.unopened.without(lost));
  if (left.length > 0) sentences.push(t().projects.withoutData(left));
  if (sentences.length > 0) store.note(t().numbers.sentences(sentences));
}

/**
 * Everything of a session that a file can have, without data sets.
 * @param {string} id
 * @returns {Promise<{project: Project, lost: string[]}>} `lost`: titles of what cannot be read
 * @throws {import("./session-database.js").StorageFailure | ProjectFileError} there is nothing to save
 */
export async function readableOf(id) {
  const [known, code, ...others] = await Promise.all([
    sessions(),
    database.all("code", id),
    database.all("parts", id),
    database.all("checkpoints", id),
  ]);
  /** @type {string[]} */
  const lost = [];
  /** @param {any[]} records @param {boolean} isCode @returns {Map<any, any>} by part */
  const readable = (records, isCode) => {
    const present = records.filter(({ part }) => !part.startsWith(ASIDE)); // an earlier visit said so
    const kept = present.filter((record) => fits(record, isCode));
    for (const each of present)
      if (!kept.includes(each)) lost.push(titleOf(isCode ? "code" : "parts", each.part));
    return new Map(kept.map(({ part, value }) => [part, value]));
  };
  const codes = readable(code, true);
  const parts = readable(others.flat(), false);
  const words = t().sessions.unopened;
  if (codes.size + parts.size === 0)
    throw new ProjectFileError(
      t().numbers.sentences([words.nothing, lost.length > 0 ? words.lost(lost) : ""]),
    );
  const summary = known.find((each) => each.id === id);
  const ids = [summary?.exampleId, parts.get("choices")?.exampleId, ...codes.keys()];
  const exampleId = ids.find(isExampleId) ?? "program";
  const usual = { created: Date.now(), touched: true, title: exampleId, edited: codes.size > 0 };
  const untrained = { state: "idle", step: 0, totalSteps: 0 };
  return {
    project: {
      summary: { ...usual, ...untrained, ...summary, exampleId },
      codes,
      parts,
      data: new Map(),
    },
    lost,
  };
}

/** @param {any} record @param {boolean} isCode */
function fits(record, isCode) {
  if (!isReadable(record, isCode)) return false;
  if (isCode) return isExampleId(record.part);
  try {
    toText({ ...record.value, bytes: null });
    return true;
  } catch {
    return false; // a field that nobody reads is nested too deeply, for instance
  }
}
