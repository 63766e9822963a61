/** Projects that are dropped anywhere on the page. Code and weights have places of their own. */

import * as store from "./store.js";

/** Projects, once they are needed. */
export const loadProjects = () => import("./projects.js");

/** Open the files of projects that are dropped, for the lifetime of the page. */
export function listenForProjects() {
  // Without this, a browser leaves the page for a file that misses its place.
  addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    const file = projectIn(event);
    if (!file) return;
    event.preventDefault();
    event.stopPropagation();
    open(file);
  }, { capture: true }); // before the editor, which would insert its bytes
  addEventListener("drop", (event) => {
    const file = event.dataTransfer?.files[0];
    if (!file || event.defaultPrevented) return;
    event.preventDefault();
    open(file); // says what it is not
  });
}

/** @param {DragEvent} event */
const projectIn = ({ dataTransfer }) =>
  [...(dataTransfer?.files ?? [])].find(({ name }) => name.toLowerCase().endsWith(".playgrad"));

/** @param {File} file */
async function open(file) {
  try {
    const { openProjectFile } = await loadProjects();
    await openProjectFile(file);
  } catch (failure) {
    store.projectProblem.value = `${file.name} could not be opened: ${/** @type {Error} */ (failure).message}`;
  }
}
