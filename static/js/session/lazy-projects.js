/** Projects, which are loaded when they are needed. */

import { t } from "../words/locale.js";
import * as store from "../state/store.js";

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
    store.projectProblem.value = t().projects.notOpened(
      file.name,
      /** @type {Error} */ (failure).message,
    );
  }
}
