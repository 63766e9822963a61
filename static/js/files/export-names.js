/** What people call a network and its data, for files that people open. */

import { classNames, columnNames } from "../words/class-names.js";
import { titleOfProgram } from "../gallery/example-titles.js";
import * as store from "../state/store.js";

/** @returns {import("../../engine/messages.js").DataNames} */
export function dataNames() {
  const { exampleId, source } = store.executed.value;
  const example = store.examples.value.find(({ id }) => id === exampleId);
  const title = store.projectName.value || (example ? titleOfProgram(example, source) : "");
  return { title, classes: classNames(), columns: columnNames() };
}
