/** What the Lab's settings and numbers mean. No page, no engine: plain values in and out. */

/** @import { LabChoices, LabDetail, LabRun, LabSettings } from "./types.js" */

export const SINGLE = "single";
/** The strategies that the program itself gives its models. */
export const PROGRAM = "program";

/**
 * Which details say something with these settings.
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
 * The run options for these settings: what the strategy does not use is left out.
 * @param {LabSettings} settings
 * @param {LabChoices} choices
 * @returns {{devices?: number, lab: Record<string, unknown>}}
 */
export function runOptions(settings, choices) {
  const used = detailsUsed(settings, choices);
  /** @type {Record<string, unknown>} */
  const lab = { strategy: settings.strategy };
  for (const detail of used) {
    const isLeft = settings[detail] === null || (detail === "steps" && settings.steps === 0);
    if (!isLeft) lab[detail] = settings[detail];
  }
  if (used.has("delays")) lab.delays = delaysOf(settings);
  return used.has("devices") ? { devices: settings.devices, lab } : { lab };
}

/** One delay for each device. @param {LabSettings} settings @returns {number[]} milliseconds */
export function delaysOf({ delays, devices }) {
  return Array.from({ length: devices }, (_, place) => delays[place] ?? 0);
}

/**
 * A name for a run with these settings: "Pipeline, 4 devices, 1F1B, 8 parts".
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
  if (used.has("staleness") && settings.staleness !== null) parts.push(`at most ${settings.staleness} ahead`);
  if (used.has("collective") && settings.collective !== "auto") parts.push(settings.collective);
  const held = used.has("delays") ? delaysOf(settings).filter(Boolean) : [];
  if (held.length > 0) parts.push(`${Math.max(...held)} ms delay`);
  return parts.join(", ");
}

/** How many devices a run works on. @param {LabSettings} settings @param {LabChoices} choices */
export const devicesOf = (settings, choices) =>
  detailsUsed(settings, choices).has("devices") ? settings.devices : 1;

/**
 * How much faster a run is than the last one of the same program on one device, and that as a share
 * of what so many devices could do at best. Null where there is nothing to compare with.
 * @param {LabRun} run
 * @param {LabRun[]} runs
 * @returns {{againstOne: number | null, againstIdeal: number | null}}
 */
export function comparison(run, runs) {
  const one = runs.findLast((other) =>
    other.isSingle && other.msPerStep !== null
    && other.program === run.program && other.device === run.device);
  if (!one?.msPerStep || !run.msPerStep) return { againstOne: null, againstIdeal: null };
  const againstOne = one.msPerStep / run.msPerStep;
  return { againstOne, againstIdeal: againstOne / run.devices };
}

/** As many as there are colours. */
export const MOST_RUNS = 8;

/**
 * The runs that stay when another one begins: the latest, and the one that those of the program are
 * compared with, however old.
 * @param {LabRun[]} runs
 * @param {string} program
 * @returns {LabRun[]} fewer than `MOST_RUNS`
 */
export function kept(runs, program) {
  if (runs.length < MOST_RUNS) return runs;
  const reference = runs.findLast((run) => run.isSingle && run.msPerStep !== null && run.program === program);
  const oldest = runs.find((run) => run !== reference);
  return kept(runs.filter((run) => run !== oldest), program);
}

/** @param {LabRun[]} runs fewer than `MOST_RUNS` @returns {number} of a colour that none of them has */
export function unusedColour(runs) {
  const used = new Set(runs.map(({ colour }) => colour));
  return Array.from({ length: MOST_RUNS }, (_, index) => index).find((index) => !used.has(index)) ?? 0;
}

/**
 * Round times for an axis from 0 to `end`: about `count` of them.
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
