import { html } from "../../vendor/preact.js";
import { hidden } from "../hidden.js";
import * as store from "../store.js";
import { CurvesPanel } from "./curves-panel.js";
import { Gallery } from "./gallery.js";
import { LazyDoctor } from "./lazy-doctor.js";
import { TaskPanel } from "./task-panel.js";
import { WeightsPanel } from "./weights-panel.js";

/** The training as it goes on: curves, the task, and the weights. */
export function WatchPanel() {
  const curves = html`<${CurvesPanel} key="curves" />`;
  const task = html`
    <div class="side-by-side" key="task">
      <${TaskPanel} />
      <${WeightsPanel} />
    </div>
  `;
  // Without a training, curves are empty, but a drawing is answered.
  const isFresh = store.fit.value === null && store.runState.value === "idle";
  return html`
    ${!hidden.value.has("gallery") && html`<${Gallery} key="gallery" />`}
    ${isFresh ? [task, curves] : [curves, html`<${LazyDoctor} key="doctor" />`, task]}
  `;
}
