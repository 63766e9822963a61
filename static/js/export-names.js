/** What people call a network and its data, for files that people open. */

import { classNames, columnNames } from "./class-names.js";
import { titleOf } from "./example-titles.js";
import * as store from "./store.js";

/** @returns {import("../engine/messages.js").DataNames} */
export function dataNames() {
  const { exampleId } = store.executed.value;
  const example = store.examples.value.find(({ id }) => id === exampleId);
  const title = store.projectName.value || (example ? titleOf(example) : "");
  return { title, classes: classNames(), columns: columnNames() };
}
