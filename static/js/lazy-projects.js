/** Projects, which are loaded when they are needed. */

import * as store from "./store.js";

/** Projects, once they are needed. */
export const loadProjects = () => import("./projects.js");

/** @param {File} file */
export const isProject = ({ name }) => name.toLowerCase().endsWith(".playgrad");

/** @param {File} file */
export async function openProject(file) {
  try {
    const { openProjectFile } = await loadProjects();
    await openProjectFile(file);
  } catch (failure) {
    store.projectProblem.value = `${file.name} could not be opened: ${/** @type {Error} */ (failure).message}`;
  }
}
