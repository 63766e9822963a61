import { html } from "../../vendor/preact.js";
import { download } from "../files/download.js";
import { saveCode } from "../gallery/examples.js";
import { t } from "../words/locale.js";
import { exportModel } from "../files/model-files.js";
import { saveReport } from "../panels/runs/save-report.js";
import { loadProjects } from "../session/lazy-projects.js";
import * as store from "../state/store.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";

/** All that can be saved as a file, in one place. */
export function ExportMenu() {
  return html`<${Menu} id="export" title=${t().exporting.title} icon="save" about=${t().exporting.about}
    content=${ExportFiles} />`;
}

/** A button for each file that can be saved. */
export function ExportFiles() {
  const hasModel = store.hasModel.value;
  const last = store.runs.value.at(-1);
  const words = t().exporting;
  /** @param {import("../../engine/messages.js").ExportFormat} format @param {string} ending */
  const model = (format, ending) => ({ ending, save: () => saveModel(format), isOff: !hasModel });
  /** @type {{id: string, ending: string, save: () => unknown, isOff: boolean, title: string, about: string, lacks?: string}[]} */
  const files = [
    { id: "code", ending: ".py", save: saveCode, isOff: false, ...words.program },
    { id: "weights-safetensors", ...model("safetensors", ".safetensors"), ...words.weights },
    { id: "weights-npz", ...model("npz", ".npz"), ...words.weightsForNumPy },
    { id: "onnx", ...model("onnx", ".onnx"), ...words.onnx },
    { id: "keras", ...model("keras", ".keras"), ...words.keras },
    { id: "pytorch", ...model("pytorch", ".pt.zip"), ...words.pytorch },
    { id: "tfjs", ...model("tfjs", ".tfjs.zip"), ...words.tfjs },
    { id: "script", ...model("script", ".py"), ...words.script },
    { id: "page", ...model("page", ".html"), ...words.page },
    {
      id: "report",
      ending: ".html",
      save: () => last && saveReport([last]),
      isOff: !last,
      ...words.report(last?.number ?? null),
    },
    { id: "project", ending: ".playgrad", save: saveProject, isOff: false, ...words.project },
  ];
  return html`
    <ul class="export-files">${files.map(
      ({ id, title, about, lacks, ending, save, isOff }) => html`<li key=${id}>
      <button type="button" class="button quiet export-file" data-testid=${`export-menu-${id}`} disabled=${isOff} onClick=${save}>
        <${Icon} name="save" /><span>${title}</span><span class="hint">${ending}</span>
        <span class="hint export-about">${about}</span>
        ${lacks && html`<span class="hint export-about">${words.without(lacks)}</span>`}</button>
    </li>`,
    )}</ul>
    ${!hasModel && html`<p class="hint">${words.noWeights}</p>`}
  `;
}

/** @param {import("../../engine/messages.js").ExportFormat} format */
async function saveModel(format) {
  try {
    await download(await exportModel(format));
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
