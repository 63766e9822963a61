import { html } from "../../vendor/preact.js";
import * as actions from "../actions.js";
import { mostDevices } from "../../engine/device-links.js";
import * as format from "../format.js";
import { comparison, delaysOf, detailsUsed } from "../lab.js";
import { enabled } from "../shortcuts.js";
import * as store from "../store.js";
import { Choice, Count } from "./lab-fields.js";
import { Icon } from "./icons.js";

/** @typedef {import("../types.js").LabSettings} LabSettings */

const MOST_DELAY = 1000;
/** Minimum and maximum of each number, and whether it may be empty. @type {Record<string, [number, () => number, boolean?]>} */
const BOUNDS = {
  devices: [1, mostDevices],
  micro_batches: [1, () => 32],
  chunks: [1, () => 8],
  staleness: [0, () => 100, true],
  every: [1, () => 1000],
  steps: [0, () => 100_000],
};
const KINDS = [
  { name: "auto", title: "Automatic", about: "The program's choice, otherwise GPU workers if the browser has WebGPU." },
  { name: "gpu", title: "GPU workers", about: "Each device has its own worker and its own GPUDevice." },
  { name: "cpu", title: "NumPy workers", about: "cpu:0 is the page's own Python. Every other device is a worker with its own Python." },
];

/** @param {Partial<LabSettings>} change */
function set(change) {
  store.labSettings.value = { ...store.labSettings.value, ...change };
}

/** The settings of a run: strategy, kind of devices, and the details that apply. */
export function LabControls() {
  const choices = store.labChoices.value;
  const settings = store.labSettings.value;
  if (!choices) {
    return html`<section class="panel lab-controls"><p class="lab-wait">The Lab opens when Python is ready.</p></section>`;
  }
  const used = detailsUsed(settings, choices);
  /** @param {"strategy" | "schedule" | "collective"} name @param {string} label */
  const choice = (name, label) => {
    const options = choices[/** @type {const} */ ({ strategy: "strategies", schedule: "schedules", collective: "collectives" })[name]];
    return html`<${Choice} label=${label} id=${`lab-${name}`} value=${settings[name]} options=${options}
      help=${options.find((option) => option.name === settings[name])?.about}
      onChange=${(/** @type {string} */ value) => set({ [name]: value })} />`;
  };
  return html`
    <section class="panel lab-controls" aria-labelledby="lab-title">
      <div class="panel-head">
        <h2 id="lab-title">Setup</h2>
        <${Commands} />
      </div>
      <div class="lab-fields">
        ${choice("strategy", "Strategy")}
        <${Choice} label="Kind of devices" id="lab-kind" value=${store.deviceChoice.value} options=${KINDS}
          help=${KINDS.find(({ name }) => name === store.deviceChoice.value)?.about}
          onChange=${(/** @type {any} */ value) => (store.deviceChoice.value = value)} />
        ${used.has("schedule") && choice("schedule", "Schedule")}
        ${used.has("collective") && choice("collective", "Collective")}
        ${choices.details.filter(({ name }) => used.has(/** @type {any} */ (name))).map(({ name, title, about }) => {
          const [least, most, isOptional] = BOUNDS[name];
          return html`<${Count} key=${name} label=${title} id=${`lab-${name.replace("_", "-")}`} help=${about}
            value=${settings[/** @type {"devices"} */ (name)]} least=${least} most=${most()} isOptional=${isOptional}
            onChange=${(/** @type {number | null} */ value) => set({ [name]: value })} />`;
        })}
      </div>
      ${used.has("delays") && html`<${Delays} settings=${settings} />`}
      ${used.has("devices") && html`<p class="lab-honest" data-testid="lab-honest">${honestly(settings)}</p>`}
    </section>
  `;
}

/** Run, stop and trace a step; and the error, since the code may be out of view. */
function Commands() {
  const error = store.error.value;
  return html`
    ${error && html`<span class="lab-failure" data-testid="lab-failure">${error.type}: ${error.message}</span>`}
    <div class="lab-commands">
      <button type="button" class="button small primary" data-testid="lab-run" disabled=${!enabled.value.run}
        onClick=${actions.runInLab}><${Icon} name="run" />Run with this strategy</button>
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
    <fieldset class="lab-delays" aria-describedby="lab-delays-help">
      <legend>Delays, ms</legend>
      <p id="lab-delays-help" class="lab-help">Delays every task on a device by this time, to show how a slow device affects the others.</p>
      ${delays.map((delay, place) => html`
        <${Count} key=${place} label=${`Device ${place}`} id=${`lab-delay-${place}`} value=${delay} least=${0}
          most=${MOST_DELAY} onChange=${(/** @type {number} */ value) =>
            set({ delays: delays.map((old, index) => (index === place ? value : old)) })} />
      `)}
    </fieldset>
  `;
}

/** The speed to expect from several devices on this machine, and the measured one. @param {LabSettings} settings */
function honestly({ devices }) {
  const { info } = store.gpu.value;
  const cores = navigator.hardwareConcurrency || 1;
  const shared = store.deviceChoice.value !== "cpu" && info
    ? `All GPU workers share one GPU here (${info.name}), so ${devices} of them are no faster than one. `
    : `This machine has ${cores} cores, so ${devices} NumPy workers are at best ${Math.min(cores, devices)} times as `
      + "fast as one, and slower than one if layers are small. ";
  return `${shared}Moving tensors takes extra time. The order of work, the waiting and the traffic are real. ${measured()}`;
}

/** The speedup of the latest run on several devices, as a sentence. */
function measured() {
  const runs = store.labRuns.value;
  const compared = runs.filter((each) => each.devices > 1 && comparison(each, runs).speedup !== null);
  const run = compared.findLast((each) => !each.isHeldUp);
  if (!run) {
    return compared.length > 0
      ? "Run it without delays to see the measured speed-up here."
      : "Run one device first, then a strategy, to see the measured speed-up here.";
  }
  const speedup = comparison(run, runs).speedup ?? NaN;
  return `Measured: run ${run.id}, on ${run.devices} ${run.device} devices, was ${format.times(speedup)} times as fast as one device.`;
}
