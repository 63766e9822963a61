/** The runs of a session: a record of each, with its code, settings and result. */

import { MOST } from "../../state/bounds.js";
import { changesInWords } from "../../editor/code-diff.js";
import { t } from "../../words/locale.js";
import { duringTraining } from "../../state/setting-changes.js";

/**
 * @import { LabSettings } from "../../state/types.js"
 *
 * @typedef {{id: number, number: number, exampleId: string, title: string, code: string, device: string,
 *            ranOn: string, lab: LabSettings | null, state: string, step: number, totalSteps: number,
 *            seconds: number, loss: number | null, accuracy: number | null, testAccuracy: number | null,
 *            isPinned: boolean, colour: number, steps: number[], losses: (number | null)[], isEdited?: boolean,
 *            settings?: import("../../../engine/messages.js").SettingChange[], parameters?: number, epochs?: number, hasEarlierFits?: boolean,
 *            trainAccuracy?: number | null, testLoss?: number | null, elo?: number, ratings?: [number, number][], branch?: {number: number, step: number}}} Run
 *   `id`: milliseconds since 1970 at its start; `device`: as chosen; `ranOn`: in words; `steps` and
 *   `losses`: its curve, thinned; `isEdited`: the visitor has changed the program; `settings`: the ones that were changed while it trained;
 *   `elo`: the last Elo rating of a player that learns; `ratings`: step and rating of its matches, thinned;
 *   `branch`: the number of the run, 0 if unknown, and the step at which this one begins
 *
 * @typedef {"number" | "title" | "step" | "seconds" | "loss" | "testAccuracy" | "elo"} Column
 */

/** Runs to keep besides the pinned ones. */
const MOST_RUNS = 30;
/** Runs that can be pinned: with the others, no more than a session can hold. */
export const MOST_PINNED = MOST.runs - MOST_RUNS;
const MOST_POINTS = 240;
const COLOURS = 8;

/** Add a run, or replace it if it continued. The oldest that are not pinned give way. @param {Run[]} runs @param {Run} run */
export function withRun(runs, run) {
  const others = runs.filter(({ id }) => id !== run.id);
  const loose = others.filter(({ isPinned }) => !isPinned);
  const dropped = new Set(loose.slice(0, Math.max(0, loose.length + 1 - MOST_RUNS)));
  return [...others.filter((each) => !dropped.has(each)), run].sort((a, b) => a.number - b.number);
}

/**
 * Thin a curve: it is drawn a few hundred pixels wide.
 * @param {number[]} steps
 * @param {(number | null)[]} losses
 */
export function thinned(steps, losses) {
  return { steps: everyOf(steps), losses: everyOf(losses) };
}

/** Evenly spaced values of a column, and the last: a few hundred. @template T @param {T[]} column */
export function everyOf(column) {
  const stride = Math.ceil(column.length / MOST_POINTS) || 1;
  return column.filter((_, index) => index % stride === 0 || index === column.length - 1);
}

/** Its program in words. @param {Run} run */
export const titleOf = ({ title, isEdited }) =>
  isEdited ? t().runs.edited(title) : title || t().runs.untitled;

/** @param {string} state of a run */
export function stateInWords(state) {
  /** @type {Record<string, string>} */
  const states = t().status.states;
  return states[state] ?? state;
}

/** The least used colour, by its number. @param {{colour: number}[]} runs */
export function unusedColour(runs) {
  const uses = Array.from(
    { length: COLOURS },
    (_, colour) => runs.filter((run) => run.colour === colour).length,
  );
  return uses.indexOf(Math.min(...uses));
}

/** The changes that were last computed for a run. @type {WeakMap<Run, {before: Run | undefined, messages: object, changes: string[]}>} */
const computed = new WeakMap();

/**
 * The changes since an earlier run, in a few words, computed once for each pair of records.
 * @param {Run | undefined} before
 * @param {Run} run
 * @returns {string[]}
 */
export function changesSince(before, run) {
  const messages = t();
  const last = computed.get(run);
  if (last && last.before === before && last.messages === messages) return last.changes;
  const changes = compare(before, run);
  computed.set(run, { before, messages, changes });
  return changes;
}

/** @param {Run | undefined} before @param {Run} run @returns {string[]} */
function compare(before, run) {
  const during = duringTraining(run.settings ?? []);
  const words = run.branch ? [t().undo.branchOf(run.branch.number, run.branch.step)] : [];
  if (!before) return [...words, ...during];
  if (before.exampleId !== run.exampleId) words.push(t().runs.anotherProgram(titleOf(run)));
  else words.push(...changesInWords(before.code, run.code));
  if (before.device !== run.device) words.push(t().runs.device(before.device, run.device));
  if (Boolean(before.lab) !== Boolean(run.lab))
    words.push(run.lab ? t().runs.inLab : t().runs.notInLab);
  for (const [name, value] of Object.entries(run.lab ?? {})) {
    const old = before.lab?.[/** @type {keyof LabSettings} */ (name)];
    if (before.lab && String(old) !== String(value))
      words.push(t().runs.labChange(labSettingInWords(name), String(old), String(value)));
  }
  return [...words, ...during];
}

/** @param {string} name of a setting of the Lab */
export function labSettingInWords(name) {
  /** @type {Record<string, string>} */
  const names = t().runs.labSettings;
  return names[name] ?? name;
}

/** Whether one of the runs has Elo ratings. @param {Run[]} runs */
export const isRated = (runs) => runs.some(({ elo }) => elo !== undefined);

/** Sort by a column; missing numbers come last. @param {Run[]} runs @param {Column} column @param {boolean} isDescending */
export function sortedBy(runs, column, isDescending) {
  const sign = isDescending ? -1 : 1;
  return [...runs].sort((a, b) => {
    const [x, y] = [a[column] ?? null, b[column] ?? null];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return (
      sign * (typeof x === "string" ? x.localeCompare(String(y)) : x - Number(y)) ||
      a.number - b.number
    );
  });
}

const FIELDS = /** @type {const} */ ([
  "number",
  "title",
  "device",
  "ranOn",
  "state",
  "step",
  "totalSteps",
  "seconds",
  "loss",
  "accuracy",
  "testAccuracy",
]);

/** The runs as CSV (RFC 4180), with the changes since the run before, and Elo ratings if there are some. @param {Run[]} runs */
export function csv(runs) {
  const fields = isRated(runs) ? [...FIELDS, /** @type {const} */ ("elo")] : FIELDS;
  const rows = runs.map((run, index) => [
    new Date(run.id).toISOString(),
    ...fields.map((name) => (name === "title" ? titleOf(run) : (run[name] ?? ""))),
    changesSince(runs[index - 1], run).join("; "),
  ]);
  return [["began", ...fields, "changes"], ...rows]
    .map((row) => `${row.map(quoted).join(",")}\r\n`)
    .join("");
}

/** @param {string | number} value */
function quoted(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
