/** The examples, and the visitor's changes to each of them, which their session keeps. */

import { batch, effect, untracked } from "../../vendor/preact.js";
import { load } from "../../engine/downloads.js";
import { urlOf } from "../../engine/root.js";
import { offer } from "../files/download.js";
import { flushEvents } from "../engine/engine-events.js";
import { language, t } from "../words/locale.js";
import { rememberShown } from "../session/session-parts.js";
import { locksHere, moveLocks } from "../sharing/locks.js";
import * as store from "../state/store.js";

/** @import { Example } from "../state/types.js" */

/**
 * Load the list, and open the example of the session, or the first for a new visitor.
 * @param {Promise<void>} session resolves when it has been restored
 */
export async function loadExamples(session) {
  try {
    const [list] = await Promise.all([fetchList(), session]);
    batch(() => {
      store.examples.value = list.map(inLanguage);
      store.codes.value = changesOf(store.examples.value);
      store.examples.value = [...store.examples.value, ...withoutExample(list)];
      const open = store.example.value ?? list[0];
      if (open) openExample(open.id);
    });
    effect(() => {
      void language.value;
      untracked(followLanguage);
    });
  } catch (problem) {
    const message = t().errors.examples(/** @type {Error} */ (problem).message);
    store.showError({ type: "LoadError", message, line: null, op: null });
  }
}

/** @returns {Promise<Example[]>} */
async function fetchList() {
  const content = await load(urlOf("/examples.json"), {
    problem: (problem, pause) =>
      store.reportLoading(
        "examples",
        problem ? t().loading.examples(problem.message, Math.ceil(pause / 1000)) : "",
      ),
  });
  store.reportLoading("examples", "");
  return JSON.parse(new TextDecoder().decode(content));
}

/** An example in the language of the page. @param {Example} example @returns {Example} */
function inLanguage(example) {
  const { versions = [example.source] } = example;
  const source = versions[0] && t().programs.translated({ id: example.id, source: versions[0] });
  return { ...example, source, versions: [...new Set([...versions, source])] };
}

/** Have the programs of the page that nobody has changed follow its language. Their lines stay the same. */
function followLanguage() {
  batch(() => {
    store.examples.value = store.examples.value.map(inLanguage);
    store.source.value = inPageLanguage(store.exampleId.value, store.source.value);
    const { executed, shared } = store;
    const ran = inPageLanguage(executed.value.exampleId, executed.value.source);
    if (ran !== executed.value.source) executed.value = { ...executed.value, source: ran };
    const { exampleId = "", code = "" } = shared.value ?? {};
    const linked = inPageLanguage(exampleId, code);
    if (shared.value && linked !== code) shared.value = { ...shared.value, code: linked };
  });
}

/** A program in the language of the page, if it is its example's own. @param {string} id @param {string} code */
export function inPageLanguage(id, code) {
  const original = store.examples.value.find((each) => each.id === id);
  return original && store.isOriginal(original, code) ? original.source : code;
}

/** The code that differs from its example: a project comes with the code of its example. @param {Example[]} list */
function changesOf(list) {
  const codes = Object.entries(store.codes.value);
  const changed = codes.filter(
    ([id, code]) =>
      !store.isOriginal(
        list.find((each) => each.id === id),
        code,
      ),
  );
  return changed.length < codes.length ? Object.fromEntries(changed) : store.codes.value;
}

/** Entries for code whose example the server no longer has. @param {Example[]} list @returns {Example[]} */
function withoutExample(list) {
  const known = new Set(list.map(({ id }) => id));
  return Object.keys(store.codes.value)
    .filter((id) => !known.has(id))
    .map(
      (id) =>
        entryFor(id) ?? {
          id,
          title: t().editor.lost(id),
          description: t().editor.lostAbout,
          source: "",
        },
    );
}

/** How the ids of programs begin that were made for data of the visitor, or opened from a file. */
const FOR_DATA = "data-";
const FROM_FILE = "file-";

/** The entry of a program of the visitor; null if it is none. @param {string} id @returns {Example | null} */
function entryFor(id) {
  const words = t().editor;
  if (id.startsWith(FOR_DATA))
    return {
      id,
      title: words.forData(id.slice(FOR_DATA.length)),
      description: words.forDataAbout,
      source: "",
    };
  if (id.startsWith(FROM_FILE))
    return { id, title: id.slice(FROM_FILE.length), description: words.fileAbout, source: "" };
  return null;
}

/** Open a new program for data of the visitor, beside the examples. @param {string} name of the data @param {string} code */
export const openProgramFor = (name, code) => openBeside(FOR_DATA + name, code);

/** Open a program of a file, beside the examples: no other is replaced. @param {string} name of the file @param {string} code */
export function openProgramOf(name, code) {
  const id = FROM_FILE + name;
  const open = Object.keys(store.codes.value).find(
    (each) => each.startsWith(id) && store.codes.value[each] === code,
  );
  if (open) selectExample(open);
  else openBeside(id, code);
}

/** @param {string} base an id, which gets a number if it is taken @param {string} code */
function openBeside(base, code) {
  const taken = new Set([
    ...store.examples.value.map(({ id }) => id),
    ...Object.keys(store.codes.value),
  ]);
  let id = base;
  for (let number = 2; taken.has(id); number += 1) id = `${base} ${number}`;
  const entry = /** @type {Example} */ (entryFor(id));
  batch(() => {
    store.examples.value = [...store.examples.value, entry];
    selectExample(id);
    edit(code);
  });
}

/** Restores the display of a run, by its example. @type {Map<string, () => void>} */
const aside = new Map();

/** Open another example, as the visitor asks for. What the page shows of a run changes with it. @param {string} id */
export function selectExample(id) {
  batch(() => {
    store.hasChosen.value = true;
    flushEvents(); // they belong to the program that is shown
    const shown = store.executed.value.exampleId;
    if (shown !== id && !store.active.value && !store.queuedRun.value) {
      if (shown) aside.set(shown, rememberShown());
      store.clearShown();
      aside.get(id)?.();
    }
    openExample(id);
    followLanguage(); // the run that was put aside may be of a time before another language
  });
}

/** @param {string} id */
export function openExample(id) {
  const chosen = store.examples.value.find((each) => each.id === id);
  if (!chosen) return;
  batch(() => {
    store.exampleId.value = id;
    store.source.value = store.codes.value[id] ?? chosen.source;
    store.revealedLine.value = null;
  });
}

/**
 * @param {string} code the content of the editor
 * @returns {boolean} whether it could be changed: lines may be locked
 */
export function edit(code) {
  return batch(() => {
    if (!moveLocks(code)) return false;
    store.source.value = code;
    const id = store.exampleId.value;
    if (!id) return true;
    const others = { ...store.codes.value };
    delete others[id];
    const isChanged = !store.isOriginal(store.example.value, code);
    store.codes.value = isChanged ? { ...others, [id]: code } : others;
    return true;
  });
}

/** Discard the visitor's changes to this example, or to the program of a link that has locked lines of it. */
export function restoreExample() {
  const original = store.example.value;
  const { value: shared } = store.shared;
  const isLinked = locksHere.value.isHeld && shared?.exampleId === store.exampleId.value;
  if (isLinked) edit(shared.code);
  else if (original) edit(original.source);
}

/** Save the content of the editor as a file. */
export function saveCode() {
  const content = new Blob([store.source.value], { type: "text/x-python" });
  const id = store.exampleId.value;
  offer(`${(id.startsWith(FROM_FILE) ? id.slice(FROM_FILE.length) : id) || "program"}.py`, content);
}
