/** Files that are dropped on the page, with the files in dropped folders. */

import { t } from "../words/locale.js";
import { isProject, openProject } from "../session/lazy-projects.js";
import * as store from "../state/store.js";
import { closeDrawer, openDrawer } from "./drawer-state.js";

/** @import { Item } from "./drawer-state.js" */

/** Whether files are dragged, and not over a place that takes files itself. @param {DragEvent} event */
const bringsFiles = ({ dataTransfer, target }) =>
  (dataTransfer?.types.includes("Files") ?? false) &&
  !(target instanceof Element && target.closest("[data-takes-files]"));

/** Open projects and programs, and the drawer with other files, that are dropped anywhere. They would replace the page otherwise. */
export function listenForDrops() {
  const root = document.documentElement;
  // Before the editor, which would type the content of a file.
  window.addEventListener(
    "dragover",
    (event) => {
      delete root.dataset.dropping;
      if (!bringsFiles(event)) return;
      event.preventDefault();
      event.stopPropagation();
      root.dataset.dropping = t().data.dropped;
    },
    true,
  );
  window.addEventListener(
    "dragleave",
    ({ relatedTarget }) => {
      if (relatedTarget === null) delete root.dataset.dropping;
    },
    true,
  );
  window.addEventListener(
    "drop",
    (event) => {
      delete root.dataset.dropping;
      if (!bringsFiles(event)) return;
      event.preventDefault();
      event.stopPropagation();
      const transfer = /** @type {DataTransfer} */ (event.dataTransfer);
      const project = [...transfer.files].find(isProject);
      const isCode = transfer.files.length > 0 && [...transfer.files].every(isProgram);
      if (!project && !isCode) {
        openDrawer("choose", filesOf(transfer));
        return;
      }
      closeDrawer(); // it would cover the opened file
      if (project) openProject(project);
      else openPrograms([...transfer.files]);
    },
    true,
  );
}

/** @param {File} file */
const isProgram = ({ name }) => name.toLowerCase().endsWith(".py");

/** @param {File[]} files */
async function openPrograms([file, ...others]) {
  if (others.length > 0) {
    store.projectProblem.value = t().editor.severalFiles;
    return;
  }
  const { openProgramFile } = await import("./dropped-program.js");
  await openProgramFile(file);
}

/** @param {DataTransfer} transfer must be read before the event ends @returns {Promise<Item[]>} */
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  const files = [...transfer.files].map((file) => ({ path: file.name, blob: file }));
  if (entries.every((entry) => !entry?.isDirectory)) return files;
  const items = await Promise.all(entries.map((entry) => (entry ? filesIn(entry, "") : [])));
  return items.flat();
}

/** @param {any} entry a FileSystemEntry @param {string} folder @returns {Promise<Item[]>} */
async function filesIn(entry, folder) {
  const path = `${folder}${entry.name}`;
  if (entry.isFile) {
    const blob = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path, blob }];
  }
  const reader = entry.createReader();
  /** @type {Item[]} */
  const items = [];
  for (;;) {
    /** @type {any[]} */
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // 100 at a time
    if (entries.length === 0) return items;
    for (const each of entries) items.push(...(await filesIn(each, `${path}/`)));
  }
}

/** The files of an input element, which may come from a folder. @param {FileList} files @returns {Item[]} */
export const itemsOf = (files) =>
  [...files].map((file) => ({ path: file.webkitRelativePath || file.name, blob: file }));
