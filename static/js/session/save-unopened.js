/** Saves a session as a file without opening it. */

import { offer } from "../download.js";
import { dataOf } from "./project-data.js";
import { encodeProject, fileNameOf } from "./project-file.js";
import { database } from "./session-database.js";
import { sessions } from "./session-list.js";
import { PARTS } from "./session-parts.js";

/** @import { Project } from "./project-file.js" */

/** @param {string} id @throws {import("./session-database.js").StorageFailure | import("./project-file.js").ProjectFileError} */
export async function saveSession(id) {
  const [known, code, ...others] = await Promise.all([
    sessions(),
    database.all("code", id),
    database.all("parts", id),
    database.all("checkpoints", id),
  ]);
  const summary = known.find((each) => each.id === id);
  if (!summary) return;
  const codes = new Map(code.map(({ part, value }) => [part, value]));
  const parts = others
    .flat()
    .filter(({ part, value }) => Object.hasOwn(PARTS, part) && value !== undefined)
    .map(({ part, value }) => /** @type {const} */ ([part, value]));
  const { data } = await dataOf(codes.values());
  /** @type {Project} */
  const project = { summary, codes, parts: new Map(parts), data };
  offer(fileNameOf(summary.name || summary.title), encodeProject(project, new Date()));
}
