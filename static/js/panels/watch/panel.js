import { html } from "../../../vendor/preact.js";
import { hidden } from "../../sharing/hidden.js";
import { CurvesPanel } from "./curves-panel.js";
import { Gallery } from "./gallery.js";
import { LazyDoctor } from "./lazy-doctor.js";
import { TaskPanel } from "./task-panel.js";
import { WeightsPanel } from "./weights-panel.js";

/** The training as it goes on: curves, the task, and the weights. */
export function WatchPanel() {
  return html`
    ${!hidden.value.has("gallery") && html`<${Gallery} />`}
    <${CurvesPanel} />
    <${LazyDoctor} />
    <div class="side-by-side">
      <${TaskPanel} />
      <${WeightsPanel} />
    </div>
  `;
}
