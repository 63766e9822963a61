/** The logic of the Lab's settings and numbers: plain values in and out, without page or engine. */

/** @import { LabChoices, LabDetail, LabOptions } from "../../../engine/messages.js" */
/** @import { LabRun, LabSettings } from "../../state/types.js" */

export const SINGLE = "single";
/** Leaves the strategies of its models to the program. */
export const PROGRAM = "program";

/** Kinds of work in a trace, in the order of a step. */
export const WORK_KINDS = /** @type {const} */ ([
  "input",
  "forward",
  "gradient",
  "update",
  "receive",
  "send",
  "delay",
]);

/**
 * The details that apply with these settings.
 * @param {LabSettings} settings
 * @param {LabChoices} choices
 * @returns {Set<LabDetail>}
 */
export function detailsUsed({ strategy, schedule }, choices) {
  const used = new Set(find(choices.strategies, strategy)?.uses);
  if (used.has("schedule")) {
    for (const detail of find(choices.schedules, schedule)?.uses ?? []) used.add(detail);
  }
  return used;
}

/**
 * The run options for these settings, without the details that the strategy does not use.
 * @param {LabSettings} settings
 * @param {LabChoices} choices
 * @returns {{devices?: number, lab: LabOptions}}
 */
export function runOptions(settings, choices) {
  const used = detailsUsed(settings, choices);
  /** @type {LabOptions} */
  const lab = { strategy: settings.strategy };
  for (const detail of used) {
    const isUnset = settings[detail] === null || (detail === "steps" && settings.steps === 0);
    if (!isUnset) Object.assign(lab, { [detail]: settings[detail] });
  }
  if (used.has("delays")) lab.delays = delaysOf(settings);
  return used.has("devices") ? { devices: settings.devices, lab } : { lab };
}

/** One delay for each device. @param {LabSettings} settings @returns {number[]} milliseconds */
export function delaysOf({ delays, devices }) {
  return Array.from({ length: devices }, (_, place) => delays[place] ?? 0);
}

/**
 * A title for a run with these settings: "Pipeline, 1F1B, 8 micro-batches". It is in English, as Python's
 * titles of strategies are; the page shows it by `t().lab.titled`.
 * @param {LabSettings} settings
 * @param {LabChoices} choices
 */
export function titleOf(settings, choices) {
  const used = detailsUsed(settings, choices);
  const parts = [find(choices.strategies, settings.strategy)?.title ?? settings.strategy];
  if (used.has("schedule")) {
    parts.push(find(choices.schedules, settings.schedule)?.title ?? settings.schedule);
  }
  if (used.has("micro_batches")) parts.push(`${settings.micro_batches} micro-batches`);
  if (used.has("chunks")) parts.push(`${settings.chunks} chunks`);
  if (used.has("every")) parts.push(`every ${settings.every}`);
  if (used.has("staleness") && settings.staleness !== null)
    parts.push(`at most ${settings.staleness} ahead`);
  if (used.has("collective") && settings.collective !== "auto") {
    parts.push(find(choices.collectives, settings.collective)?.title ?? settings.collective);
  }
  const delays = used.has("delays") ? delaysOf(settings).filter(Boolean) : [];
  if (delays.length > 0) parts.push(`${Math.max(...delays)} ms delay`);
  return parts.join(", ");
}

/** The number of devices that a run uses. @param {LabSettings} settings @param {LabChoices} choices */
export const devicesOf = (settings, choices) =>
  detailsUsed(settings, choices).has("devices") ? settings.devices : 1;

/**
 * The speedup of a run over the last run of the same program on one device, and the efficiency: the
 * speedup divided by the number of devices. Null without such a run.
 * @param {LabRun} run
 * @param {LabRun[]} runs
 * @returns {{speedup: number | null, efficiency: number | null}}
 */
export function comparison(run, runs) {
  const one = runs.findLast(
    (other) =>
      other.isSingle &&
      other.msPerStep !== null &&
      other.program === run.program &&
      other.device === run.device,
  );
  if (!one?.msPerStep || !run.msPerStep) return { speedup: null, efficiency: null };
  const speedup = one.msPerStep / run.msPerStep;
  return { speedup, efficiency: speedup / run.devices };
}

/** One for each colour. */
export const MOST_RUNS = 8;

/**
 * The runs to keep when another begins: the latest, and the run on one device that the
 * program's others are compared with, however old.
 * @param {LabRun[]} runs
 * @param {string} program
 * @returns {LabRun[]} fewer than `MOST_RUNS`
 */
export function runsToKeep(runs, program) {
  if (runs.length < MOST_RUNS) return runs;
  const reference = runs.findLast(
    (run) => run.isSingle && run.msPerStep !== null && run.program === program,
  );
  const oldest = runs.find((run) => run !== reference);
  return runsToKeep(
    runs.filter((run) => run !== oldest),
    program,
  );
}

/**
 * About `count` round times for an axis from 0 to `end`.
 * @param {number} end
 * @param {number} count
 */
export function ticks(end, count) {
  if (!(end > 0)) return [0];
  const rough = end / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, index) => index * step);
}

/** @template {{name: string}} T @param {T[]} list @param {string} name */
const find = (list, name) => list.find((each) => each.name === name);
