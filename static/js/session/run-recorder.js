/** Records each run that has trained, when it ends. */

import { kindOf } from "../../engine/kinds.js";
import { effect, untracked } from "../../vendor/preact.js";
import { isReplaced } from "../gallery/example-titles.js";
import { titleIn } from "../gallery/program-title.js";
import { everyOf, thinned, unusedColour, withRun } from "../panels/runs/runs.js";
import * as store from "../state/store.js";
import { isOfFormerRun, watchBranches } from "./branches.js";

/** Record runs, for the lifetime of the page. */
export function recordRuns() {
  watchBranches();
  let wasActive = false;
  effect(() => {
    const isActive = store.active.value;
    if (wasActive && !isActive) untracked(record);
    wasActive = isActive;
  });
}

/** Record the run that was under way when the page was left. */
export function recordLeftRun() {
  if (store.wasLeft.value && !store.active.value) record();
}

function record() {
  const { fit, progress, executed, runs, curves, branch } = store;
  const about = fit.value;
  if (!about || progress.value.step === 0) return; // nothing was trained, or it was reset
  if (isOfFormerRun()) return; // it has been recorded
  const { began } = executed.value;
  const before = runs.value.find(({ id }) => id === began);
  const run = runOf(executed.value, about, store.runState.value, progress.value, curves);
  runs.value = withRun(runs.value, {
    ...run,
    number: before?.number ?? run.number,
    lab: store.runOptions.value.lab ? store.labSettings.value : null,
    isPinned: before?.isPinned ?? false,
    colour: before?.colour ?? run.colour,
    settings: store.settingChanges.value,
    branch:
      branch.value?.began === began
        ? { number: branch.value.number, step: branch.value.step }
        : before?.branch,
    hasEarlierFits: store.earlierSeconds.value > 0,
  });
}

/**
 * The record of a training, as that of a new run.
 * @param {import("../state/types.js").Program & {began: number}} program
 * @param {import("../../engine/messages.js").Fit} fit
 * @param {string} state
 * @param {Omit<import("../state/types.js").Progress, "stepsPerSecond" | "eta">} progress
 * @param {import("../pictures/curves.js").Curves} curves
 * @returns {import("../panels/runs/runs.js").Run}
 */
export function runOf({ exampleId, source, began }, fit, state, progress, curves) {
  const { steps, series, ratings } = curves;
  const example = store.examples.value.find(({ id }) => id === exampleId);
  return {
    id: began,
    number: Math.max(0, ...store.runs.value.map(({ number }) => number)) + 1,
    exampleId,
    ...named(example, source, exampleId),
    code: source,
    device: store.deviceChoice.value,
    ranOn: fit.adapter ?? (kindOf(fit.device)?.onCores ? "CPU" : fit.device),
    lab: null,
    state,
    step: progress.step,
    totalSteps: fit.total_steps,
    seconds: progress.seconds,
    loss: series.trendLoss.findLast((value) => value !== null) ?? progress.loss,
    accuracy: progress.accuracy,
    testAccuracy: progress.testAccuracy,
    isPinned: false,
    colour: unusedColour(store.runs.value),
    parameters: fit.parameters,
    epochs: progress.epoch,
    trainAccuracy: series.trendAccuracy.findLast((value) => value !== null) ?? null,
    testLoss: progress.testLoss,
    ...thinned(steps, series.trendLoss),
    ...(ratings.length > 0 ? { elo: ratings.at(-1)?.[1], ratings: everyOf(ratings) } : {}),
  };
}

/**
 * The title of a program. One that was written in place of an example has its own, or none.
 * @param {import("../state/types.js").Example | undefined} example @param {string} source @param {string} exampleId
 * @returns {{title: string, isEdited: boolean}}
 */
function named(example, source, exampleId) {
  const title = example?.title ?? exampleId;
  if (!store.differs(example, source)) return { title, isEdited: false };
  return example && isReplaced(example, source)
    ? { title: titleIn(source), isEdited: false }
    : { title, isEdited: true };
}
