import { html } from "../../vendor/preact.js";
import { exportWeights } from "../actions.js";
import { download } from "../download.js";
import { saveCode } from "../examples.js";
import { loadProjects } from "../lazy-projects.js";
import { saveReport } from "../save-report.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";

/** All that can be saved as a file, in one place. */
export function ExportMenu() {
  return html`<${Menu} id="export" title="Export" icon="save" about="Save the program, the weights, the run or the project as a file"
    content=${Files} />`;
}

function Files() {
  const hasModel = store.hasModel.value;
  const last = store.runs.value.at(-1);
  const files = [
    { id: "code", title: "Program", ending: ".py", save: saveCode },
    { id: "weights-safetensors", title: "Weights", ending: ".safetensors", save: () => saveWeights("safetensors"), isOff: !hasModel },
    { id: "weights-npz", title: "Weights for NumPy", ending: ".npz", save: () => saveWeights("npz"), isOff: !hasModel },
    { id: "report", title: last ? `Report of run ${last.number}` : "Report of a run", ending: ".html", save: () => last && saveReport([last]), isOff: !last },
    { id: "project", title: "Project, with all of these", ending: ".playgrad", save: saveProject },
  ];
  return html`
    <ul class="export-files">${files.map(({ id, title, ending, save, isOff = false }) => html`<li key=${id}>
      <button type="button" class="button quiet export-file" data-testid=${`export-menu-${id}`} disabled=${isOff} onClick=${save}>
        <${Icon} name="save" /><span>${title}</span><span class="hint">${ending}</span></button>
    </li>`)}</ul>
    ${!hasModel && html`<p class="hint">There are weights to save once a network has trained.</p>`}
  `;
}

/** @param {"safetensors" | "npz"} format */
async function saveWeights(format) {
  try {
    await download(await exportWeights(format));
  } catch (failure) {
    store.note(`The weights were not saved: ${/** @type {Error} */ (failure).message}`);
  }
}

async function saveProject() {
  try {
    await (await loadProjects()).saveProject();
  } catch (failure) {
    store.note(`The project was not saved: ${/** @type {Error} */ (failure).message}`);
  }
}
