/** The sessions in the database: listed, copied in, removed, brought back, and forgotten. */

import { barred } from "./opening.js";
import { OF_SESSIONS, database } from "./session-database.js";
import { PARTS, VERSION } from "./session-parts.js";
import { SHAPES, SUMMARY } from "./session-shapes.js";
import { newId, openSessions } from "./session-tab.js";

/**
 * @import { StoreName } from "./session-database.js"
 * @import { Project } from "./project-file.js"
 * @import { SessionSummary } from "../state/types.js"
 *
 * @typedef {Partial<Record<StoreName, any[]>>} Records
 */

/** Closed sessions without a name to keep. Those with a name are projects: only the visitor removes them. */
const MOST_UNNAMED = 10;

/** The sessions, the one to continue first. @returns {Promise<SessionSummary[]>} */
export async function sessions() {
  const records = await database.all("sessions");
  return records
    .filter((record) => SUMMARY(record))
    .sort((a, b) => Number(b.touched) - Number(a.touched) || b.saved - a.saved);
}

/** Whether a record of code or of another part can be restored. @param {any} record @param {boolean} isCode */
export function isReadable({ part, version, value }, isCode) {
  if (version !== VERSION) return false;
  if (isCode) return SHAPES.code(value);
  return Object.hasOwn(PARTS, part) && SHAPES[/** @type {"run"} */ (part)](value);
}

/**
 * Store a project as a new session, whole or not at all.
 * @param {Project} project
 * @returns {Promise<string>} its id
 * @throws {import("./session-database.js").StorageFailure}
 */
export async function storeProject({ summary, codes, parts }) {
  const id = newId();
  const stamp = { session: id, version: VERSION, saved: Date.now() };
  /** @type {Records} */
  const records = {
    sessions: [{ ...summary, id, version: VERSION, saved: stamp.saved, touched: true }],
    code: [...codes].map(([part, value]) => ({ ...stamp, part, value })),
    parts: [],
    checkpoints: [],
  };
  for (const [part, value] of parts) records[PARTS[part].store]?.push({ ...stamp, part, value });
  await bringBack(records);
  return id;
}

/** Remove a session. @param {string} id @returns {Promise<Records>} its records, for `bringBack` */
export async function removeSession(id) {
  const [, ...stores] = OF_SESSIONS;
  const [known, ...others] = await Promise.all([
    sessions(),
    ...stores.map((name) => database.all(name, id)),
  ]);
  await database.remove(id);
  return {
    sessions: known.filter((each) => each.id === id),
    ...Object.fromEntries(stores.map((name, index) => [name, others[index]])),
  };
}

/** Undo `removeSession`. @param {Records} records */
export const bringBack = (records) =>
  database.writeAll(OF_SESSIONS.map((store) => ({ store, records: records[store] })));

/** Take its name from a session, because a copy continues under it. @param {string} id */
export async function takeName(id) {
  const summary = (await sessions()).find((each) => each.id === id);
  if (summary?.name) await database.write("sessions", [{ ...summary, name: "" }]);
}

/**
 * Remove closed sessions in which nothing was done, and all but the latest of the ones without a name. Sessions that the
 * page has left out stay: they are offered to the visitor.
 * @param {string} present id of this tab's session
 * @param {boolean} isGuarded whether sessions of open tabs can be told from closed ones
 */
export async function forgetOldSessions(present, isGuarded) {
  const [all, open, leftOut] = await Promise.all([
    sessions(),
    isGuarded ? openSessions() : new Set(),
    barred(),
  ]);
  const spared = new Set([present, ...open, ...leftOut]);
  const unnamed = all.filter(({ id, name }) => !spared.has(id) && !name);
  const kept = new Set(unnamed.filter(({ touched }) => touched).slice(0, MOST_UNNAMED));
  for (const each of unnamed) if (!kept.has(each)) await database.remove(each.id);
}
