import { html } from "../../../vendor/preact.js";
import * as store from "../../store.js";
import { LabCompare } from "./lab-compare.js";
import { LabControls } from "./lab-controls.js";
import { LabPlacement } from "./lab-placement.js";
import { LabTimeline } from "./lab-timeline.js";

/** Training on several devices: strategy, timeline, comparison and placement. */
export function LabPanel() {
  const runs = store.labRuns.value;
  const shown = runs.find(({ id }) => id === store.labShown.value)
    ?? runs.findLast(({ trace }) => trace !== null) ?? null;
  return html`
    <${LabControls} />
    <${LabTimeline} run=${shown} />
    <${LabCompare} runs=${runs} shown=${shown} />
    ${shown && html`<${LabPlacement} key=${runs.at(-1)?.id} isAsynchronous=${runs.at(-1)?.report.updates !== undefined} />`}
  `;
}
