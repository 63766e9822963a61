/** Runs that branch off: they begin at a checkpoint of another run, with the program of the editor. */

import { effect, untracked } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** @import { Checkpoint } from "../state/types.js" */

/** Have the page show a run that branches from a checkpoint of the current one. @param {Checkpoint} checkpoint */
export function beginBranch({ step }) {
  const from = store.executed.value;
  const number = store.runs.value.find(({ id }) => id === from.began)?.number ?? 0;
  const began = Date.now();
  store.branch.value = { began, number, step, from, hasBegun: false };
  store.executed.value = { exampleId: store.exampleId.value, source: store.source.value, began };
  store.transcript.clear();
  store.outputOpen.value = null;
  store.transcript.note(t().undo.begins(number, step));
}

/** The branch has taken its checkpoint: the curve up to there, and from there on, is its own. */
export function branchBegan() {
  if (store.branch.value) store.branch.value = { ...store.branch.value, hasBegun: true };
}

/** Whether the curve that is shown is still that of the run from which a branch was to begin. */
export const isOfFormerRun = () => store.branch.value?.hasBegun === false;

/** Whenever a branch ends before it has begun, show the former run again; for the lifetime of the page. */
export function watchBranches() {
  effect(() => {
    if (store.active.value || !isOfFormerRun()) return;
    untracked(
      () =>
        (store.executed.value = /** @type {import("../state/types.js").Branch} */ (
          store.branch.value
        ).from),
    );
  });
}
