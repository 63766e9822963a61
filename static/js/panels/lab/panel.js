import { html, useState } from "../../../vendor/preact.js";
import { lazy } from "../../components/lazy.js";
import { t } from "../../words/locale.js";
import { register } from "../panels.js";
import * as store from "../../state/store.js";
import { isWatching } from "../../watching/watched.js";
import { LabCompare } from "./lab-compare.js";
import { LabControls } from "./lab-controls.js";
import { LabPlacement } from "./lab-placement.js";
import { LabTimeline } from "./lab-timeline.js";

/** The speed of this machine, loaded when it is first opened. */
const SpeedPanel = lazy(
  async () => (await import("./speed-panel.js")).SpeedPanel,
  () => ({ name: t().lab.howFast, waiting: t().shrink.loading }),
);

function HowFast() {
  const [isOpen, setOpen] = useState(false);
  return html`
    <details class="panel lab-placement" data-testid="how-fast"
      onToggle=${(/** @type {any} */ event) => setOpen((was) => was || event.currentTarget.open)}>
      <summary>${t().lab.howFast}</summary>
      ${isOpen && html`<${SpeedPanel} />`}
    </details>
  `;
}

/** Training on several devices: strategy, timeline, comparison and placement; and the speed of this machine. */
function LabPanel() {
  const runs = store.labRuns.value;
  const shown =
    runs.find(({ id }) => id === store.labShown.value) ??
    runs.findLast(({ trace }) => trace !== null) ??
    null;
  return html`
    ${!isWatching && html`<${LabControls} />`}
    <${LabTimeline} run=${shown} />
    <${LabCompare} runs=${runs} shown=${shown} />
    ${shown && !isWatching && html`<${LabPlacement} key=${runs.at(-1)?.id} isAsynchronous=${runs.at(-1)?.report.updates !== undefined} />`}
    ${!isWatching && html`<${HowFast} />`}
  `;
}

register({
  name: "lab",
  order: 50,
  title: () => t().panels.lab,
  Panel: LabPanel,
  outline: "M2 3h5v1.6H2zm4 4.2h6v1.6H6zM3 11.4h11V13H3z",
});
