/**
 * Projects: the sessions of this browser, with names. They can be opened, duplicated, removed, and
 * saved as files. Opening one loads the page again, and nothing of it runs before the visitor says so.
 */

import { signal } from "../../vendor/preact.js";
import { offer } from "../files/download.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { historyOf } from "./checkpoint-history.js";
import { barred } from "./opening.js";
import { dataOf, keepData } from "./project-data.js";
import {
  ENDING,
  LONGEST_NAME,
  ProjectFileError,
  cleanName,
  decodeProject,
  encodeProject,
  fileNameOf,
} from "./project-file.js";
import { StorageFailure, database } from "./session-database.js";
import { bringBack, removeSession, sessions, storeProject } from "./session-list.js";
import { titleOf } from "./session-notes.js";
import { NAMES, PARTS } from "./session-parts.js";
import { newId, openSessions } from "./session-tab.js";
import { goTo, presentSummary, saveAgain, saveNow, sessionId } from "./session.js";

/**
 * @import { Project } from "./project-file.js"
 * @import { Records } from "./session-list.js"
 * @import { SessionSummary } from "../state/types.js"
 *
 * @typedef {SessionSummary & {isOpen: boolean}} Listed `isOpen`: in another tab
 */

/** The projects besides the present one, latest first. */
export const projects = signal(/** @type {Listed[]} */ ([]));
/** The project that was removed last, until it is brought back. */
export const removed = signal(/** @type {{label: string, records: Records} | null} */ (null));

/** Something that cannot be done now; the message says why and what to do. */
class ProjectProblem extends Error {}

/** A name to show. @param {{name?: string}} summary */
export const nameOf = ({ name }) => name || t().projects.untitled;

/** List the projects in `projects`. */
export async function findProjects() {
  try {
    const [all, open, leftOut] = await Promise.all([sessions(), openSessions(), barred()]);
    projects.value = all
      .filter(({ id, touched, name }) => (touched || name || leftOut.has(id)) && id !== sessionId())
      .map((each) => ({ ...each, isOpen: open.has(each.id) }))
      .sort((a, b) => b.saved - a.saved);
  } catch {
    projects.value = []; // `storageProblem` says why
  }
}

/** @param {string} name */
export function rename(name) {
  store.projectName.value = cleanName(name);
  saveNow();
}

/** Continue another project in this tab. @param {string} id */
export const openProject = (id) =>
  attempt(async () => {
    await expectLeaving();
    if ((await openSessions()).has(id)) throw new ProjectProblem(t().projects.isElsewhere);
    const isKept = (await database.all("sessions")).some((each) => each.id === id);
    if (!isKept) throw new ProjectProblem(t().projects.isGone);
    goTo(id);
  }, findProjects);

/** Begin a new project in this tab, as a new visitor would. */
export const newProject = () =>
  attempt(async () => {
    await expectLeaving();
    goTo(newId(), t().projects.begun);
  });

/** Go on with a copy of the project, weights included. The original stays in the list. */
export const duplicateProject = () =>
  attempt(async () => {
    await expectLeaving();
    const project = presentProject();
    const copy = await nameOfCopy(project.summary);
    const id = await stored({
      ...project,
      summary: { ...project.summary, name: copy, created: Date.now() },
    });
    goTo(id, t().projects.duplicated(copy));
  });

/** The names of copies end with this, in any language of the page. */
const COPY = / (copy|副本)( \d+)?$/;

/** "Spiral copy", "Spiral copy 2", … @param {{name?: string, title: string}} summary */
async function nameOfCopy({ name, title }) {
  const base = (name || title).replace(COPY, "").slice(0, LONGEST_NAME - " copy 999".length);
  const taken = new Set((await sessions()).map((each) => each.name));
  let copy = t().projects.copy(base);
  for (let number = 2; taken.has(copy); number += 1) copy = t().projects.numberedCopy(base, number);
  return copy;
}

/** Save everything as one file. */
export const saveProject = () =>
  attempt(async () => {
    const { name, title } = presentSummary();
    const project = presentProject();
    const { data, left } = await dataOf(project.codes.values());
    offer(fileNameOf(name || title), encodeProject({ ...project, data }, new Date()));
    if (left.length > 0) store.note(t().projects.withoutData(left));
  });

/** Open a file of a project, as a project of its own. @param {File} file */
export const openProjectFile = (file) =>
  attempt(async () => {
    await expectLeaving();
    const { project, lost } = await decodeProject(file);
    const { summary, parts } = project;
    summary.name ||= cleanName(file.name.replace(ENDING, ""));
    const kept = parts.get("checkpoint");
    if (kept && !parts.has("run") && !lost.includes("run"))
      for (const [name, value] of historyOf(kept)) parts.set(name, value);
    parts.set(
      "choices",
      parts.get("choices") ?? { ...PARTS.choices.capture(), exampleId: summary.exampleId },
    );
    const id = await stored(project);
    const aboutData = describeData(await keepData(project.data));
    goTo(
      id,
      t().numbers.sentences([t().projects.opened(summary.name), describeLost(lost), ...aboutData]),
    );
  });

/** @param {Awaited<ReturnType<typeof keepData>>} outcome */
function describeData({ renamed, failed }) {
  const sentences = renamed.map(([name, kept]) => t().projects.otherData(name, kept));
  if (failed.length > 0) sentences.push(t().projects.noRoomForData(failed));
  return sentences;
}

/** @param {string[]} lost as from `decodeProject` */
function describeLost(lost) {
  if (lost.length === 0) return "";
  return t().projects.lost(
    lost.map((name) => {
      if (name.startsWith("code/")) return titleOf("code", name.slice("code/".length));
      if (name.startsWith("data/")) return t().projects.dataOf(name.slice("data/".length));
      return titleOf("parts", name);
    }),
  );
}

/** @param {Listed} project */
export const removeProject = (project) =>
  attempt(async () => {
    if ((await openSessions()).has(project.id)) throw new ProjectProblem(t().projects.isElsewhere);
    removed.value = { label: nameOf(project), records: await removeSession(project.id) };
    await saveAgain(); // there is room now
  }, findProjects);

/** Undo the last removal. */
export const undoRemoval = () =>
  attempt(async () => {
    if (!removed.value) return;
    await bringBack(removed.value.records);
    removed.value = null;
  }, findProjects);

/** @returns {Project} everything on the page; its data sets stay where they are, for all projects */
function presentProject() {
  const summary = presentSummary();
  const codes = new Map(Object.entries(store.codes.value));
  // The example may be another one in the page that opens the file.
  if (summary.exampleId) codes.set(summary.exampleId, store.source.value);
  /** @type {Project["parts"]} */
  const parts = new Map();
  for (const name of NAMES) {
    const value = PARTS[name].capture();
    if (value !== null) parts.set(name, value);
  }
  return {
    summary: { ...summary, state: store.active.value ? "stopped" : summary.state },
    codes,
    parts,
    data: new Map(),
  };
}

/** @throws {ProjectProblem} the present project would lose something */
async function expectLeaving() {
  if (store.active.value || store.queuedRun.value) throw new ProjectProblem(t().projects.stopFirst);
  if (await saveNow()) return;
  const why = store.storageProblem.value?.text ?? t().projects.isBeingSaved;
  throw new ProjectProblem(t().numbers.sentences([t().projects.isUnsaved, why]));
}

/** @param {Project} project @returns {Promise<string>} @throws {ProjectProblem} the browser cannot store it */
async function stored(project) {
  try {
    return await storeProject(project);
  } catch (problem) {
    if (!(problem instanceof StorageFailure)) throw problem;
    throw new ProjectProblem(
      problem.reason === "full"
        ? t().projects.isFull
        : t().projects.notStored(problem.message.replace(/\.$/, "")),
    );
  }
}

/** Whether something is under way: a second click must not make a second copy. */
const isUnderWay = signal(false);

/**
 * Do something, and show why it cannot be done.
 * @param {() => Promise<void>} work
 * @param {() => Promise<void>} [after]
 */
async function attempt(work, after) {
  if (isUnderWay.value) return;
  isUnderWay.value = true;
  store.projectProblem.value = "";
  try {
    await work();
  } catch (problem) {
    const isExpected = [ProjectProblem, ProjectFileError, StorageFailure].some(
      (kind) => problem instanceof kind,
    );
    if (!isExpected) throw problem;
    store.projectProblem.value = /** @type {Error} */ (problem).message;
  } finally {
    isUnderWay.value = false;
  }
  await after?.();
}
