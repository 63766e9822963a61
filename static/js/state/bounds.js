/**
 * Bounds of the numbers and lists that come from elsewhere: links, project files, and what the browser has
 * stored. Anyone can write these files, and a page that draws a billion fields never comes up again. Settings out
 * of bounds become the nearest within them; any other value out of bounds makes its record unreadable.
 */

import { mostDevices } from "../../engine/device-links.js";
import * as is from "../../engine/forms.js";

/** @import { LabSettings } from "./types.js" */

/**
 * @typedef {{usual: number | null, least: number, most: () => number}} Bounds
 *   `usual`: the default; null also means that the setting may be empty
 */

/** The numbers of the Lab. @type {Record<"devices" | "micro_batches" | "chunks" | "staleness" | "every" | "steps", Bounds>} */
export const LAB = {
  devices: { usual: 2, least: 1, most: mostDevices },
  micro_batches: { usual: 4, least: 1, most: () => 32 },
  chunks: { usual: 2, least: 1, most: () => 8 },
  staleness: { usual: null, least: 0, most: () => 100 },
  every: { usual: 8, least: 1, most: () => 1000 },
  steps: { usual: 200, least: 0, most: () => 100_000 },
};

/** Milliseconds that a device of the Lab may wait. */
export const DELAY = { usual: 0, least: 0, most: () => 1000 };

/** @type {LabSettings} */
export const USUAL_LAB = {
  strategy: "single",
  schedule: "1f1b",
  collective: "auto",
  delays: [],
  .../** @type {any} */ (
    Object.fromEntries(Object.entries(LAB).map(([name, { usual }]) => [name, usual]))
  ),
};

/** @param {unknown} value @param {Bounds} bounds */
const isWithin = (value, { usual, least, most }) =>
  (value === null && usual === null) || is.whole(least, most())(value);

/** The nearest value within bounds; the default for a value that is not a number. @param {unknown} value @param {Bounds} bounds */
function nearest(value, { usual, least, most }) {
  if (typeof value !== "number" || Number.isNaN(value)) return usual;
  return Math.min(Math.max(Math.round(value), least), most());
}

/**
 * Settings of the Lab, each number of them within its bounds.
 * @template {Partial<LabSettings>} T
 * @param {T} settings
 * @returns {{settings: T, changed: [name: string, value: string][]}} `changed`: the settings that were out of bounds
 */
export function withinBounds(settings) {
  /** @type {[string, string][]} */
  const changed = [];
  /** @type {any} */
  const result = {};
  for (const name of Object.keys(USUAL_LAB)) {
    const value = /** @type {any} */ (settings)[name];
    if (value === undefined) continue;
    const bounds = Object.hasOwn(LAB, name) ? LAB[/** @type {keyof typeof LAB} */ (name)] : null;
    if (name === "delays") {
      result.delays = value
        .slice(0, mostDevices())
        .map((/** @type {number} */ each) => (isWithin(each, DELAY) ? each : nearest(each, DELAY)));
      if (value.some((/** @type {number} */ each) => !isWithin(each, DELAY)))
        changed.push([name, value.slice(0, mostDevices()).join(", ")]);
    } else if (bounds && !isWithin(value, bounds)) {
      result[name] = nearest(value, bounds);
      changed.push([name, String(value)]);
    } else result[name] = value;
  }
  return { settings: result, changed };
}

// Checks of values that are restored as they were, without defaults: they refuse values that the page never stores.

/** Steps, epochs, parameters, bytes: more than any run here counts. */
export const tally = is.whole(0, 1e15);
/** Milliseconds since 1970, of which a Date can be made. */
export const moment = is.within(0, 8.64e15);
export const seconds = is.within(0, 1e12);
/** The number of a colour: there are eight series. */
export const colour = is.whole(0, 7);
/** A 32-bit float, of a run that may have diverged. */
export const float = (/** @type {any} */ value) =>
  is.number(value) && !(Math.abs(value) > 3.5e38 && Number.isFinite(value));
export const result = is.nullable(float);
/** A time or a size in a trace. */
export const measure = is.within(-1e15, 1e15);
/** @param {is.Check} check of a number that may be unknown */
export const known = (check) => is.nullable((value) => Number.isNaN(value) || check(value));

/** A name or a title. */
export const name = is.textOf(10_000);
export const code = is.textOf(100_000_000);

/** The largest number of values in each list. */
export const MOST = {
  /** Programs of a session that have locked lines. */
  programs: 10_000,
  points: 3000,
  epochs: 1_000_000,
  landmarks: 10_000,
  settings: 100_000,
  runs: 200,
  /** Characters of the programs of all runs. */
  codes: 20_000_000,
  labRuns: 100,
  devices: 1000,
  /** Of the output. */
  lines: 2000,
  /** Of a line of output. */
  characters: 100_000,
  /** Of a figure in it; Python sends fewer. */
  pictures: 1000,
  pixelBytes: 4 << 20,
  pngBytes: 8 << 20,
  series: 100,
  plotted: 10_000,
  nodes: 200_000,
  edges: 1_000_000,
  /** Name scopes inside of each other. */
  scopes: 100,
  events: 10_000,
  names: 1000,
  /** Of an array. */
  axes: 32,
  /** Of a data set, and its columns. */
  classes: 100_000,
};
