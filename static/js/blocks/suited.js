/** The settings that suit a data set, and the changes that make a network fit a visitor's data set. */

import { t } from "../words/locale.js";
import { argumentOf } from "./calls.js";
import { SETS } from "./data.js";
import { changesByLine, nameFor, setArgument, setClass } from "./edits.js";
import { applyChanges } from "./lists.js";
import { inSteps } from "./mends.js";
import { problemsOf } from "./objective.js";
import { inferShapes } from "./shapes.js";

/** @import { Call, Change, Program, Settings } from "./types.js" */

/** @typedef {{settings: string[], changes: Change[]}} Suited `settings`: the changes, in words */

/** Whether the program computes a value, or has none that a field shows. @param {Call} call @param {string} parameter */
function isComputed(call, parameter) {
  const given = argumentOf(call, parameter);
  return call.starred || Boolean(given && !given.literal);
}

/**
 * What suits a data set, as far as the program has other settings. Schedules and values that it computes are left alone.
 * @param {Program} program
 * @param {string} kind of the data set
 * @returns {Suited | null} null if there is nothing to change
 */
export function suitedSettings(program, kind) {
  const [training, ...others] = program.trainings;
  if (!training?.fit || !training.compile || others.length > 0 || program.data.length !== 1)
    return null;
  const { suited } = SETS[kind];
  /** @type {string[]} */
  const settings = [];
  const { fields } = t().blocks;
  /** @param {Program} now @param {Call | null} call @param {keyof Settings} parameter @param {string} label */
  const number = (now, call, parameter, label) => {
    if (!call || isComputed(call, parameter)) return [];
    if (Number(argumentOf(call, parameter)?.value?.value) === Number(suited[parameter])) return [];
    const changes = setArgument(now, call, parameter, suited[parameter]);
    if (changes.length > 0) settings.push(t().suited.setting(label, suited[parameter]));
    return changes;
  };
  const changes = inSteps(program, [
    (now) => {
      const set = optimizerChanges(now, suited);
      if (set.length > 0) settings.push(t().suited.setting(fields.optimizer, suited.optimizer));
      return set;
    },
    (now) => number(now, now.trainings[0].optimizer, "learning_rate", fields.learningRate),
    (now) => number(now, now.trainings[0].fit, "batch_size", fields.batchSize),
    (now) => number(now, now.trainings[0].fit, "epochs", fields.epochs),
  ]);
  return changes.length > 0 ? { settings, changes } : null;
}

/** @param {Program} program @param {Settings} suited */
function optimizerChanges(program, { optimizer: kind, learning_rate: rate }) {
  const [{ optimizer, compile }] = program.trainings;
  if (optimizer)
    return optimizer.kind === kind ? [] : setClass(program, optimizer, `optim.${kind}`);
  if (!compile || isComputed(compile, "optimizer")) return [];
  const { name, changes } = nameFor(program, `optim.${kind}`);
  const call = `${name}(learning_rate=${rate})`;
  return [...changes, ...setArgument(program, compile, "optimizer", call)];
}

/**
 * All that makes a network fit its data, by the first mend of each problem.
 * @param {Program} program
 * @param {(text: string) => Program} read
 * @returns {Suited | null} null if it fits, or nothing makes it fit
 */
export function fitted(program, read) {
  /** @type {string[]} */
  const settings = [];
  for (let now = program; settings.length <= 6;) {
    const problems = problemsOf(now, inferShapes(now));
    if (problems.length === 0)
      return settings.length > 0
        ? { settings, changes: changesByLine(program.text, now.text) }
        : null;
    const [mend] = problems[0].mends;
    if (!mend) return null;
    settings.push(mend.words);
    now = read(applyChanges(now.text, mend.changes));
  }
  return null;
}
