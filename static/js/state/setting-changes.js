/** Settings that were changed while a network trained. */

import { t } from "../words/locale.js";

/** @import { SettingChange } from "../../engine/messages.js" */

/** The part of the shown steps within which the pointer is near a change. */
const NEAR = 0.015;
/** Values of a setting that are listed. */
const MOST_VALUES = 4;

/** "learning rate 0.1 → 0.01 at step 412". @param {SettingChange} change */
export const changeInWords = ({ name, before, after, step }) =>
  t().curves.change(settingName(name), short(before), short(after), step);

/** @param {string} name as Python says it */
export function settingName(name) {
  /** @type {Record<string, string>} */
  const names = t().curves.settings;
  return names[name] ?? name;
}

/** A float32 as it was written. @param {number} value */
export const short = (value) => String(Number(value.toPrecision(6)));

/** What was changed while a run trained, in a few words for each setting. @param {SettingChange[]} changes */
export function duringTraining(changes) {
  /** @type {Map<string, SettingChange[]>} */
  const byName = new Map();
  for (const change of changes) {
    const some = byName.get(change.name);
    if (some) some.push(change);
    else byName.set(change.name, [change]);
  }
  return Array.from(byName, ([name, some]) => {
    const values = [some[0].before, ...some.map(({ after }) => after)].map(short);
    const told = values.length > MOST_VALUES ? [values[0], "…", values[values.length - 1]] : values;
    return t().runs.whileTraining(settingName(name), told.join(" → "));
  });
}

/**
 * The change at a point of the curve, if there is one.
 * @param {SettingChange[]} changes
 * @param {number[]} steps
 * @param {number} at
 */
export function changeNear(changes, steps, at) {
  const reach = Math.max(1, NEAR * ((steps.at(-1) ?? 0) - steps[0]));
  return changes.findLast(({ step }) => Math.abs(step - steps[at]) <= reach);
}
