import { html } from "../../vendor/preact.js";
import { exportWeights } from "../actions.js";
import { download } from "../download.js";
import { saveCode } from "../examples.js";
import { loadProjects } from "../lazy-projects.js";
import { t } from "../locale.js";
import { saveReport } from "../save-report.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";

/** All that can be saved as a file, in one place. */
export function ExportMenu() {
  return html`<${Menu} id="export" title=${t().exporting.title} icon="save" about=${t().exporting.about}
    content=${Files} />`;
}

function Files() {
  const hasModel = store.hasModel.value;
  const last = store.runs.value.at(-1);
  const words = t().exporting;
  const files = [
    { id: "code", title: words.program, ending: ".py", save: saveCode },
    { id: "weights-safetensors", title: words.weights, ending: ".safetensors", save: () => saveWeights("safetensors"), isOff: !hasModel },
    { id: "weights-npz", title: words.weightsForNumPy, ending: ".npz", save: () => saveWeights("npz"), isOff: !hasModel },
    { id: "report", title: last ? words.report(last.number) : words.reportOfNone, ending: ".html", save: () => last && saveReport([last]), isOff: !last },
    { id: "project", title: words.project, ending: ".playgrad", save: saveProject },
  ];
  return html`
    <ul class="export-files">${files.map(({ id, title, ending, save, isOff = false }) => html`<li key=${id}>
      <button type="button" class="button quiet export-file" data-testid=${`export-menu-${id}`} disabled=${isOff} onClick=${save}>
        <${Icon} name="save" /><span>${title}</span><span class="hint">${ending}</span></button>
    </li>`)}</ul>
    ${!hasModel && html`<p class="hint">${words.noWeights}</p>`}
  `;
}

/** @param {"safetensors" | "npz"} format */
async function saveWeights(format) {
  try {
    await download(await exportWeights(format));
  } catch (failure) {
    store.note(t().exporting.weightsFailed(/** @type {Error} */ (failure).message));
  }
}

async function saveProject() {
  try {
    await (await loadProjects()).saveProject();
  } catch (failure) {
    store.note(t().exporting.projectFailed(/** @type {Error} */ (failure).message));
  }
}
