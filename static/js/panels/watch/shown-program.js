import * as store from "../../state/store.js";

/** The program that the main picture is of: that of the run or of the weights, or else the one to be run. */
export function shownProgram() {
  if (store.active.value) return store.executed.value.source;
  if (!store.hasModel.value) return store.source.value;
  // A later run that trained nothing leaves the weights of the one before.
  return (store.kept.value?.program ?? store.executed.value).source;
}
