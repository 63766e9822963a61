/**
 * The session of this tab: the visitor's programs, choices and trainings. The browser saves it by
 * itself, and it is back after a reload, a crash or a closed browser.
 */

import { batch, computed, effect, signal } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { recall, recallInTab, recalledKeys, remember, rememberInTab } from "../state/storage.js";
import * as store from "../state/store.js";
import { allow, beginOpening } from "./opening.js";
import { StorageFailure, database } from "./session-database.js";
import { forgetOldSessions, isReadable, sessions, takeName } from "./session-list.js";
import { describeProblem, describeRestored, describeUnread, titleOf } from "./session-notes.js";
import { ASIDE, NAMES, PARTS, isOfRun } from "./session-parts.js";
import { SessionSaver } from "./session-saver.js";
import { claimSession, newId, switchTo } from "./session-tab.js";

/**
 * @import { Item } from "./session-saver.js"
 * @import { Claim } from "./session-tab.js"
 */

/** Code up to this size is written as it is typed, and while the page closes; larger code takes too long. */
const SMALL = 20_000;
const CODE = { store: /** @type {const} */ ("code"), rest: 0, longest: 600 };
const OTHER = { rest: 2000, longest: 10_000 };

/** The parts that a copy of a session begins with, besides the code. */
const COPIED = new Set(["choices", "locks"]);

/** A sentence for the page that follows. */
const ARRIVAL = "arrival";

/** Whether the visitor has changed code, run a program, or named the project in this session. */
const touched = signal(false);

class Session {
  id = newId();
  created = Date.now();
  /** Whether sessions of open tabs can be told from closed ones. */
  isGuarded = false;
  /** @type {SessionSaver | undefined} */
  saver;
}

const session = new Session();

/** Bring the tab's session back, and save it from now on. */
export async function openSession() {
  let isCopy = false;
  /** @type {(keyof typeof PARTS)[]} */
  let corrected = [];
  /** @type {Claim | undefined} */
  let claim;
  try {
    claim = await claimSession(sessions);
    session.isGuarded = claim.isGuarded;
    isCopy = claim.from !== claim.id;
    store.unopened.value = claim.barred;
    if (claim.from) corrected = await restoreMarked(claim);
    session.id = claim.id; // only now: a session that could not be read must not be overwritten
    forgetOldSessions(session.id, session.isGuarded).catch(() => {}); // it is tried again
  } catch (failure) {
    report([{ item: item("choices"), failure: new StorageFailure(failure) }]);
    if (claim?.from) store.note(describeUnread(/** @type {Error} */ (failure)));
  }
  const arrival = recallInTab(ARRIVAL);
  if (arrival) store.note(arrival);
  rememberInTab(ARRIVAL, null);
  const old = takeOldValues();
  saveChanges(isCopy);
  for (const name of corrected) session.saver?.changed(item(name));
  await old();
  // Without Web Locks a copy continues the project.
  if (claim?.from && isCopy && !claim.isCopy && (await saveNow())) await takeName(claim.from);
}

/** Restore as `restore` does, and note whether the page comes up with the session. @param {Claim} claim */
async function restoreMarked(claim) {
  const opening = await beginOpening(/** @type {string} */ (claim.from));
  try {
    const corrected = await restore(claim);
    opening.isOpen();
    return corrected;
  } catch (failure) {
    if (failure instanceof StorageFailure) opening.giveUp();
    else opening.fail();
    throw failure;
  }
}

/** @param {Claim} claim @returns {Promise<(keyof typeof PARTS)[]>} the parts with values that were corrected */
async function restore({ id, from, isCopy }) {
  const source = /** @type {string} */ (from);
  const [code, parts, checkpoints, known] = await Promise.all([
    database.all("code", source),
    database.all("parts", source),
    database.all("checkpoints", source),
    sessions(),
  ]);
  const summary = known.find((each) => each.id === source);
  if (summary && !isCopy) {
    touched.value = summary.touched;
    store.projectName.value = summary.name ?? "";
    if (source === id) session.created = summary.created;
  }
  const records = [...code, ...parts, ...checkpoints].filter(({ part }) => !part.startsWith(ASIDE));
  /** @type {any[]} */
  const damaged = [];
  /** @type {Record<string, any>} */
  const values = {};
  /** @type {Record<string, string>} */
  const codes = {};
  for (const record of records) {
    const isCode = code.includes(record);
    if (!isReadable(record, isCode)) damaged.push([record, isCode]);
    else if (isCode) codes[record.part] = record.value;
    else if (!isCopy || COPIED.has(record.part)) values[record.part] = record;
  }
  const corrected = batch(() => {
    const ofRun = NAMES.filter((name) => values[name] && isOfRun(values[name], values.run));
    const names = ofRun.filter((name) => PARTS[name].restore(values[name].value));
    store.codes.value = codes;
    store.source.value = codes[store.exampleId.value] ?? "";
    const lost = damaged.map(([{ part }, isCode]) => titleOf(isCode ? "code" : "parts", part));
    // What was said before, about the language or a link, is still true.
    store.note(
      t().numbers.sentences([
        store.notice.value,
        describeRestored(values.run?.saved ?? null, isCopy ? [] : lost),
      ]),
    );
    return names;
  });
  if (source === id) await putAside(damaged);
  return corrected;
}

/** Keep records that could not be read, where they are not in the way. @param {[any, boolean][]} damaged */
async function putAside(damaged) {
  for (const [record, isCode] of damaged) {
    const { session: owner, part } = record;
    const name = isCode ? "code" : (PARTS[/** @type {"run"} */ (part)]?.store ?? "parts");
    await database.write(name, [{ ...record, part: ASIDE + part }], [[owner, part]]);
  }
}

/** The code that an older page kept in localStorage. @returns {() => Promise<void>} to be called once it can be saved */
function takeOldValues() {
  const keys = recalledKeys("code.");
  const codes = Object.fromEntries(
    keys.map((key) => [key.slice("code.".length), recall(key) ?? ""]),
  );
  const example = recall("example");
  if (keys.length > 0) {
    store.codes.value = { ...codes, ...store.codes.value };
    touched.value = true;
  }
  if (example && !store.exampleId.value) store.exampleId.value = example;
  if (example) store.source.value = store.codes.value[store.exampleId.value] ?? store.source.value;
  return async () => {
    if (keys.length === 0 && !example) return;
    for (const id of Object.keys(codes)) session.saver?.changed(codeItem(id));
    await session.saver?.flush();
    if (store.storageProblem.value) return;
    for (const key of [...keys, "example"]) remember(key, null);
  };
}

/** @param {keyof typeof PARTS} name @returns {Item} */
const item = (name) => ({ ...OTHER, ...PARTS[name], part: name });

/** @param {string} id of the example @returns {Item} */
const codeItem = (id) => ({
  ...CODE,
  part: id,
  capture: () => store.codes.value[id] ?? null,
  // A browser ends a page that is slow to close, so typing must not depend on its last moments.
  isUrgent: (store.codes.value[id]?.length ?? 0) <= SMALL,
});

const summary = computed(() => ({
  created: session.created,
  touched: touched.value,
  name: store.projectName.value,
  exampleId: store.exampleId.value,
  title: store.example.value?.title ?? store.exampleId.value,
  edited: store.exampleId.value in store.codes.value,
  state: store.runState.value,
  step: store.kept.value?.step ?? store.progress.value.step,
  totalSteps: store.kept.value?.totalSteps ?? store.fit.value?.total_steps ?? 0,
}));
/** @type {Item} */
const summaryItem = {
  ...OTHER,
  store: "sessions",
  part: "summary",
  capture: () => summary.peek(),
};

/** @param {boolean} isNew whether nothing of it has been saved yet */
function saveChanges(isNew) {
  const saver = new SessionSaver(database, session.id, report);
  session.saver = saver;
  let codes = isNew ? {} : store.codes.peek();
  onChange(
    () => store.codes.value,
    () => {
      const before = /** @type {Record<string, string>} */ (codes);
      codes = store.codes.peek();
      const ids = new Set([...Object.keys(before), ...Object.keys(codes)]);
      for (const id of ids) if (before[id] !== store.codes.peek()[id]) saver.changed(codeItem(id));
    },
    isNew,
  );
  onChange(
    () => [
      store.codes.value,
      store.active.value,
      store.kept.value,
      store.projectName.value,
      store.locks.value,
    ],
    () => (touched.value = true),
  );
  for (const name of NAMES) onChange(PARTS[name].changes, () => saver.changed(item(name)), isNew);
  onChange(
    () => summary.value,
    () => saver.changed(summaryItem),
    isNew,
  );
  onChange(
    () => store.active.value,
    () => {
      if (!store.active.peek()) saver.flush();
    },
  );
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") saver.flush();
  });
  window.addEventListener("pagehide", () => saver.flush());
  effect(() => {
    if (losesSomething(saver.unsaved.value)) window.addEventListener("beforeunload", ask);
    else window.removeEventListener("beforeunload", ask);
  });
}

/**
 * Call `act` after each change of the result of `read`.
 * @param {() => unknown} read
 * @param {() => void} act
 * @param {boolean} [isFirst] whether the present value counts as a change
 */
function onChange(read, act, isFirst = false) {
  let counts = isFirst;
  effect(() => {
    read();
    if (counts) queueMicrotask(act); // outside of the effect, so that it may read any signal
    counts = true;
  });
}

/** Whether closing the page now would lose something. @param {ReadonlySet<string>} unsaved */
function losesSomething(unsaved) {
  const problem = store.storageProblem.value;
  if (problem && touched.value) return true;
  if (store.active.value) {
    const kept = store.kept.value;
    const isKept =
      kept?.program.began === store.executed.value.began && kept.step === store.progress.value.step;
    if (store.progress.value.step > 0 && !isKept) return true;
  }
  return [...unsaved].some((part) => {
    if (part === "checkpoint") return store.kept.value !== null;
    if (part in PARTS || part === "summary") return false;
    return (store.codes.value[part]?.length ?? 0) > SMALL;
  });
}

/** @param {BeforeUnloadEvent} event */
const ask = (event) => event.preventDefault();

/** @param {Parameters<ConstructorParameters<typeof SessionSaver>[2]>[0]} failures */
function report(failures) {
  const problem = describeProblem(failures);
  if (problem?.text !== store.storageProblem.value?.text) store.storageProblem.value = problem;
}

/** Whether everything that has changed is stored. */
export const isSaved = () => session.saver?.unsaved.value.size === 0;

/** Whether sessions of open tabs can be told from closed ones. */
export const isGuarded = () => session.isGuarded;

/** Try failed saves again. */
export const saveAgain = () => session.saver?.retry();

/** Save everything now. @returns {Promise<boolean>} whether all of it is stored */
export async function saveNow() {
  await session.saver?.flush();
  return isSaved() === true && !store.storageProblem.value;
}

export const sessionId = () => session.id;

/** The entry of this session in the list. */
export const presentSummary = () => summary.peek();

/** Have the next load of this tab begin a new session; the present one stays in the list. */
export async function leaveSession() {
  await session.saver?.flush();
  switchTo(newId());
}

/** Load the page again, with another session. @param {string} id @param {string} [arrival] a sentence to show then */
export function goTo(id, arrival = "") {
  allow(id);
  switchTo(id);
  rememberInTab(ARRIVAL, arrival || null);
  location.reload();
}
