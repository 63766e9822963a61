/** What Blocks shows: the program in the editor, read again after each change. */

import { batch, computed, signal } from "../../vendor/preact.js";
import { measure } from "../blocks/last-run.js";
import { readProgram } from "../blocks/reader.js";
import { problemsOf } from "../blocks/objective.js";
import { cardAt, runProblem } from "../blocks/run-problem.js";
import { inferShapes } from "../blocks/shapes.js";
import { findings, isLost } from "../training/doctor.js";
import { changeText, stepHistory } from "../editor/editor-access.js";
import { t } from "../words/locale.js";
import * as userData from "../own-data/user-data.js";
import { placed } from "../panels/watch/doctor-edit.js";
import { editInWords, sentenceOf } from "../panels/watch/doctor-words.js";
import * as store from "../state/store.js";

/** @import { Brought, Change, Mend, Problem } from "../blocks/types.js" */

/** @param {string} name @returns {ReturnType<Brought>} */
function brought(name) {
  const about = userData.entryOf(name)?.about;
  if (!about) return null;
  const targets = about.classes.length > 0 ? "int32" : "float32";
  return {
    samples: { shape: about.shape, dtype: "float32" },
    targets: { shape: [], dtype: targets, classes: about.classes.length },
  };
}

export const program = computed(() => readHere(store.source.value));
/** What the last run shows, while the program is the one that ran. */
export const lastRun = computed(() => {
  const graph = store.executed.value.source === store.source.value ? store.graph.value : null;
  return graph ? measure(program.value, graph) : new Map();
});
export const shapes = computed(() => inferShapes(program.value, lastRun.value));

/** The problem that ended the last run, or for which it waits, while the program is the one that ran. */
const ended = computed(() => {
  const { source } = store.executed.value;
  if (!store.linesApply.value || source !== store.source.value) return null;
  const illness = findings.value.find(({ code }) => code === "not-finite");
  const lost = isLost.value && illness ? { code: "not-finite", values: illness.values } : null;
  const error = lost
    ? { message: "", line: illness?.line ?? null, op: null, problem: lost }
    : store.error.value;
  const problem = error && runProblem(program.value, shapes.value, error);
  if (!problem || error?.problem?.code !== "not-finite") return problem;
  // The doctor has examined the values: it knows the operation, or the weights, that it began with.
  const isKnown = illness && (illness.values.op || illness.values.weights);
  const cure = cureOf(source);
  const mends = cure ? [cure] : isKnown ? [] : problem.mends;
  if (!isKnown) return { ...problem, mends };
  const card = cardAt(program.value, { message: "", line: illness.line, op: illness.node });
  return { card: card ?? problem.card, words: sentenceOf(illness), mends, ran: true };
});

/** What the doctor suggests for a loss that is not finite. @param {string} source @returns {Mend | null} */
function cureOf(source) {
  const found = findings.value.find(
    ({ code, edit }) => edit && ["not-finite", "rate-high", "exploding"].includes(code),
  );
  const changes = found?.edit && placed(found.edit.changes, source, source);
  return found?.edit && changes
    ? { words: editInWords(found.edit), changes: changes.toSorted((a, b) => a.from - b.from) }
    : null;
}

/** Problems of the cards: found in the program, or the end of the last run. */
export const problems = computed(() => {
  const shown = problemsOf(program.value, shapes.value);
  const last = ended.value;
  return last && !shown.some(({ card }) => card === last.card) ? [...shown, last] : shown;
});

/** The card at which the last run ended. */
export const endedCard = computed(() => ended.value?.card ?? null);

/** Make the change that mends a problem. @param {Problem} problem @param {Mend} mend */
export function makeMend({ card, ran }, { words, changes }) {
  // The button disappears with the problem, and its focus would be lost.
  const place = document.querySelector(`[data-card="${card}"]`);
  /** @type {HTMLElement | null | undefined} */ (place?.querySelector("button"))?.focus();
  change(changes, t().blocks.mends.made(words));
  if (ran) store.error.value = null;
}

/** A program with the data of the visitor. @param {string} text */
export const readHere = (text) => readProgram(text, brought);

/** The data set that has just been chosen, for which settings are offered. */
export const chosenData = signal(/** @type {{example: string, name: string} | null} */ (null));

/** What has just been changed, for who cannot see it. */
export const announcement = signal("");

/** The card that takes the focus after a change: number of the network, and of the item in it. */
export const focusedBlock = signal(/** @type {{network: number, index: number} | null} */ (null));

/**
 * @param {Change[]} changes of the program that is shown
 * @param {string} said
 * @param {{network: number, index: number}} [focus]
 */
export function change(changes, said, focus) {
  batch(() => {
    if (!changeText(changes)) return;
    announcement.value = said;
    if (focus) focusedBlock.value = focus;
  });
}

/** @param {boolean} forwards */
export function undoChange(forwards) {
  if (stepHistory(forwards))
    announcement.value = forwards ? t().blocks.said.redone : t().blocks.said.undone;
}
