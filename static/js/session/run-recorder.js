/** Records each run that has trained, when it ends. */

import { kindOf } from "../../engine/kinds.js";
import { effect, untracked } from "../../vendor/preact.js";
import { isReplaced } from "../gallery/example-titles.js";
import { titleIn } from "../gallery/program-title.js";
import { thinned, unusedColour, withRun } from "../panels/runs/runs.js";
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
  const { exampleId, source, began } = executed.value;
  const before = runs.value.find(({ id }) => id === began);
  const example = store.examples.value.find(({ id }) => id === exampleId);
  const numbers = runs.value.map(({ number }) => number);
  const { step, seconds, loss, accuracy, testAccuracy } = progress.value;
  runs.value = withRun(runs.value, {
    id: began,
    number: before?.number ?? Math.max(0, ...numbers) + 1,
    exampleId,
    ...named(example, source, exampleId),
    code: source,
    device: store.deviceChoice.value,
    ranOn: deviceOf(about),
    lab: store.runOptions.value.lab ? store.labSettings.value : null,
    state: store.runState.value,
    step,
    totalSteps: about.total_steps,
    seconds,
    loss: curves.series.trendLoss.findLast((value) => value !== null) ?? loss,
    accuracy,
    testAccuracy,
    isPinned: before?.isPinned ?? false,
    colour: before?.colour ?? unusedColour(runs.value),
    settings: store.settingChanges.value,
    branch:
      branch.value?.began === began
        ? { number: branch.value.number, step: branch.value.step }
        : before?.branch,
    hasEarlierFits: store.earlierSeconds.value > 0,
    parameters: about.parameters,
    epochs: progress.value.epoch,
    trainAccuracy: curves.series.trendAccuracy.findLast((value) => value !== null) ?? null,
    testLoss: progress.value.testLoss,
    ...thinned(curves.steps, curves.series.trendLoss),
  });
}

/** The device of a training, in words. @param {import("../../engine/messages.js").Fit} fit */
export const deviceOf = ({ adapter, device }) =>
  adapter ?? (kindOf(device)?.onCores ? "CPU" : device);

/**
 * The title of a program. One that was written in place of an example has its own, or none.
 * @param {import("../state/types.js").Example | undefined} example @param {string} source @param {string} exampleId
 * @returns {{title: string, isEdited: boolean}}
 */
export function named(example, source, exampleId) {
  const title = example?.title ?? exampleId;
  if (!store.differs(example, source)) return { title, isEdited: false };
  return example && isReplaced(example, source)
    ? { title: titleIn(source), isEdited: false }
    : { title, isEdited: true };
}
