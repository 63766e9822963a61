import { html } from "../../vendor/preact.js";
import * as actions from "../actions.js";
import { mostDevices } from "../../engine/device-links.js";
import { delaysOf, detailsUsed } from "../lab.js";
import { enabled } from "../shortcuts.js";
import * as store from "../store.js";
import { Choice, Count } from "./lab-fields.js";
import { Icon } from "./icons.js";

/** @typedef {import("../types.js").LabSettings} LabSettings */

const MOST_MICRO_BATCHES = 32;
const MOST_STEPS = 100_000;
const MOST_DELAY = 1000;

/** @param {Partial<LabSettings>} change */
function set(change) {
  store.labSettings.value = { ...store.labSettings.value, ...change };
}

/** What to run: strategy, devices, and the details that the strategy has. */
export function LabControls() {
  const choices = store.labChoices.value;
  const settings = store.labSettings.value;
  if (!choices) {
    return html`<section class="panel lab-controls"><p class="lab-wait">The Lab opens when Python is up.</p></section>`;
  }
  const used = detailsUsed(settings, choices);
  const strategy = choices.strategies.find(({ name }) => name === settings.strategy);
  const schedule = choices.schedules.find(({ name }) => name === settings.schedule);
  const collective = choices.collectives.find(({ name }) => name === settings.collective);
  return html`
    <section class="panel lab-controls" aria-labelledby="lab-title">
      <div class="panel-head">
        <h2 id="lab-title">Strategy</h2>
        <${Commands} />
      </div>
      <div class="lab-fields">
        <${Choice} label="Strategy" id="lab-strategy" value=${settings.strategy} options=${choices.strategies}
          onChange=${(/** @type {string} */ value) => set({ strategy: value })} />
        <${Count} label="Devices" id="lab-devices" value=${settings.devices} least=${1} most=${mostDevices()}
          disabled=${!used.has("devices")} onChange=${(/** @type {number} */ value) => set({ devices: value })} />
        <${Count} label="Micro-batches" id="lab-micro-batches" value=${settings.micro_batches} least=${1}
          most=${MOST_MICRO_BATCHES} disabled=${!used.has("micro_batches")}
          onChange=${(/** @type {number} */ value) => set({ micro_batches: value })} />
        <${Choice} label="Schedule" id="lab-schedule" value=${settings.schedule} options=${choices.schedules}
          disabled=${!used.has("schedule")} onChange=${(/** @type {string} */ value) => set({ schedule: value })} />
        <${Choice} label="Collective" id="lab-collective" value=${settings.collective}
          options=${choices.collectives} disabled=${!used.has("collective")}
          onChange=${(/** @type {string} */ value) => set({ collective: value })} />
        <${Count} label="Steps (0: all)" id="lab-steps" value=${settings.steps} least=${0} most=${MOST_STEPS}
          onChange=${(/** @type {number} */ value) => set({ steps: value })} />
      </div>
      ${used.has("delays") && html`<${Delays} settings=${settings} />`}
      <div class="lab-words" data-testid="lab-words">
        <p>${strategy?.about}</p>
        ${used.has("schedule") && html`<p><b>${schedule?.title}.</b> ${schedule?.about}</p>`}
        ${used.has("collective") && html`<p><b>${collective?.title}.</b> ${collective?.about}</p>`}
        ${used.has("devices") && html`<p class="lab-honest">${honestly(settings)}</p>`}
      </div>
    </section>
  `;
}

/** Run, stop, and measure a step; and what went wrong, for those who do not see the code now. */
function Commands() {
  const error = store.error.value;
  return html`
    ${error && html`<span class="lab-failure" data-testid="lab-failure">${error.type}: ${error.message}</span>`}
    <div class="lab-commands">
      <button type="button" class="button small primary" data-testid="lab-run" disabled=${!enabled.value.run}
        title="Run the code with this strategy" onClick=${actions.runInLab}><${Icon} name="run" />Run in the Lab</button>
      <button type="button" class="button small" data-testid="lab-stop" disabled=${!enabled.value.stop}
        onClick=${actions.stop}><${Icon} name="stop" />Stop</button>
      <button type="button" class="button small" data-testid="lab-trace" disabled=${!canTrace()}
        title="Measure the next step" onClick=${actions.traceStep}>Trace a step</button>
    </div>
  `;
}

/** Whether a step of a run in the Lab can be measured now. */
const canTrace = () =>
  store.active.value && store.fit.value !== null && store.labRuns.value.at(-1)?.state === "running";

/** @param {{settings: LabSettings}} props */
function Delays({ settings }) {
  const delays = delaysOf(settings);
  return html`
    <fieldset class="lab-delays">
      <legend>Hold up each piece of work of a device, in milliseconds</legend>
      ${delays.map((delay, place) => html`
        <${Count} key=${place} label=${`Device ${place}`} id=${`lab-delay-${place}`} value=${delay} least=${0}
          most=${MOST_DELAY} onChange=${(/** @type {number} */ value) =>
            set({ delays: delays.map((old, index) => (index === place ? value : old)) })} />
      `)}
    </fieldset>
  `;
}

/** What so many devices are on this machine. @param {LabSettings} settings */
function honestly({ devices }) {
  const { info } = store.gpu.value;
  if (store.deviceChoice.value !== "cpu" && info) {
    return `Here all ${devices} devices share one GPU (${info.name}), each with a worker and a queue of its own: `
      + "together they are no faster than it is alone, and moving tensors between them takes time on top. "
      + "The order, the waiting and the traffic are real.";
  }
  return `Here all ${devices} devices are NumPy in the page's one Python, which works for them in turns: nothing `
    + "happens at the same time, so nothing gets faster. On a GPU, each has a worker of its own.";
}
