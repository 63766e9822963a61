/** What can be saved of a session that the page could not open. The records are as the database returns them. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const values = Object.create({
  getItem: (key) => values[key] ?? null,
  setItem: (key, value) => (values[key] = value),
  removeItem: (key) => delete values[key],
});
globalThis.localStorage = values;
Object.defineProperty(globalThis, "navigator", {
  value: { locks: { query: async () => ({ held: [] }) } },
});
globalThis.location = { pathname: "/", search: "", hash: "" };
const { database } = await import("../../static/js/session/session-database.js");
const { readableOf } = await import("../../static/js/session/save-unopened.js");
const { decodeProject, encodeProject } = await import("../../static/js/session/project-file.js");
const { forgetOldSessions, sessions } = await import("../../static/js/session/session-list.js");
const { findProjects, projects } = await import("../../static/js/session/projects.js");
const { PARTS } = await import("../../static/js/session/session-parts.js");

const ID = "left-out";
/** @param {string} part @param {any} [value] */
const record = (part, value) => ({ session: ID, part, version: 1, saved: 1, value });
const SUMMARY = {
  id: ID,
  version: 1,
  created: 1,
  saved: 2,
  touched: false,
  name: "",
  exampleId: "spiral",
  title: "Spiral",
  edited: false,
  state: "idle",
  step: 0,
  totalSteps: 0,
};

let stored = {};
let removed = [];
database.all = async (store) => stored[store] ?? [];
database.remove = async (id) => void removed.push(id);

beforeEach(() => {
  for (const key of Object.keys(values)) delete values[key];
  removed = [];
  stored = { sessions: [SUMMARY] };
});

/** The project of a file, as another page opens it. */
async function reopened(project) {
  const blob = encodeProject(project, new Date());
  return await decodeProject(new File([blob], "a.playgrad"));
}

function nested() {
  let value = [];
  for (let depth = 0; depth < 100_000; depth += 1) value = [value];
  return value;
}

test("a damaged session is saved without what is damaged, which is named", async () => {
  stored.code = [record("spiral", "kept = 1"), record("xor"), record("../up", "pass")];
  stored.parts = [
    record("choices", PARTS.choices.capture()),
    record("run", { ...PARTS.run.capture(), unread: nested() }),
    { ...record("curves", PARTS.curves.capture()), version: 2 },
    record("of a later version", 1),
    record("aside:graph", 1),
  ];
  stored.checkpoints = [record("checkpoint", null)];
  const { project, lost } = await readableOf(ID);
  assert.deepEqual(lost.sort(), [
    "of a later version",
    "the code of ../up",
    "the code of xor",
    "the curves",
    "the numbers of the run",
    "the weights",
  ]);
  const { project: read, lost: unread } = await reopened(project);
  assert.deepEqual(unread, []);
  assert.deepEqual([...read.codes], [["spiral", "kept = 1"]]);
  assert.deepEqual([...read.parts.keys()], ["choices"]);
});

test("a session without a readable summary is saved, and its file opens", async () => {
  for (const damaged of [[], [{ id: ID }], [{ ...SUMMARY, exampleId: "" }]]) {
    stored = { sessions: damaged, code: [record("xor", "kept = 1")] };
    const { project } = await reopened((await readableOf(ID)).project);
    assert.equal(project.summary.exampleId, "xor");
    assert.deepEqual([...project.codes], [["xor", "kept = 1"]]);
  }
});

test("a session with nothing to save says so, and what it could not read", async () => {
  await assert.rejects(readableOf(ID), { message: /nothing in the session/ });
  stored.code = [record("xor")];
  await assert.rejects(readableOf(ID), { message: /nothing in the session.*the code of xor/ });
});

test("a session that was left out is kept and listed, though nothing was done in it", async () => {
  stored.sessions.push({ ...SUMMARY, id: "another" });
  for (const page of ["a", "b"]) values[`playgrad.opening.${ID} ${page}`] = "opening";
  await forgetOldSessions("present", true);
  assert.deepEqual(removed, ["another"]);
  await findProjects();
  assert.deepEqual(
    projects.value.map(({ id }) => id),
    [ID],
  );
  assert.equal((await sessions()).length, 2);
});
