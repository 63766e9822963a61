import { CHOICES, kindOf } from "../../../engine/kinds.js";
import { html } from "../../../vendor/preact.js";
import * as actions from "../../state/actions.js";
import { DELAY, LAB } from "../../state/bounds.js";
import { Icon } from "../../components/icons.js";
import * as format from "../../words/format.js";
import { comparison, delaysOf, detailsUsed } from "./lab.js";
import { t } from "../../words/locale.js";
import { enabled } from "../../frame/shortcuts.js";
import * as store from "../../state/store.js";
import { Choice, Count } from "./lab-fields.js";

/** @typedef {import("../../state/types.js").LabSettings} LabSettings */

/** @param {Partial<LabSettings>} change */
function set(change) {
  store.labSettings.value = { ...store.labSettings.value, ...change };
}

/** The settings of a run: strategy, kind of devices, and the details that apply. */
export function LabControls() {
  const choices = store.labChoices.value;
  const settings = store.labSettings.value;
  const words = t().lab;
  if (!choices)
    return html`<section class="panel lab-controls"><p class="lab-wait">${words.opensSoon}</p></section>`;
  const used = detailsUsed(settings, choices);
  /** @type {Record<string, {title: string, about: string}>} */
  const known = words.devices;
  const kinds = CHOICES.map((name) => ({
    name,
    ...(known[name] ?? { title: kindOf(name)?.title ?? name, about: "" }),
  }));
  /** @param {"strategy" | "schedule" | "collective"} name */
  const choice = (name) => {
    const offered =
      choices[
        /** @type {const} */ ({
          strategy: "strategies",
          schedule: "schedules",
          collective: "collectives",
        })[name]
      ];
    const options = offered.map((each) => ({
      ...each,
      title: words.said(each.title),
      about: words.said(each.about),
    }));
    return html`<${Choice} label=${words.fields[name]} id=${`lab-${name}`} value=${settings[name]} options=${options}
      help=${options.find((option) => option.name === settings[name])?.about}
      onChange=${(/** @type {string} */ value) => set({ [name]: value })} />`;
  };
  return html`
    <section class="panel lab-controls" aria-labelledby="lab-title">
      <div class="panel-head">
        <h2 id="lab-title">${words.setup}</h2>
        <${Commands} />
      </div>
      <div class="lab-fields">
        ${choice("strategy")}
        <${Choice} label=${words.fields.kind} id="lab-kind" value=${store.deviceChoice.value} options=${kinds}
          help=${kinds.find(({ name }) => name === store.deviceChoice.value)?.about}
          onChange=${(/** @type {any} */ value) => (store.deviceChoice.value = value)} />
        ${used.has("schedule") && choice("schedule")}
        ${used.has("collective") && choice("collective")}
        ${choices.details
          .filter(({ name }) => used.has(/** @type {any} */ (name)))
          .map(({ name, title, about }) => {
            const { usual, least, most } = LAB[/** @type {"devices"} */ (name)];
            return html`<${Count} key=${name} label=${words.said(title)} id=${`lab-${name.replace("_", "-")}`} help=${words.said(about)}
            value=${settings[/** @type {"devices"} */ (name)]} least=${least} most=${most()} isOptional=${usual === null}
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
  const words = t().lab;
  return html`
    ${error && html`<span class="lab-failure" data-testid="lab-failure">${error.type}: ${error.message}</span>`}
    <div class="lab-commands">
      <button type="button" class="button small primary" data-testid="lab-run" disabled=${!enabled.value.run}
        onClick=${actions.runInLab}><${Icon} name="run" />${words.run}</button>
      <button type="button" class="button small" data-testid="lab-stop" disabled=${!enabled.value.stop}
        onClick=${actions.stop}><${Icon} name="stop" />${words.stop}</button>
      <button type="button" class="button small" data-testid="lab-trace" disabled=${!canTrace()}
        title=${words.trace.about} onClick=${actions.traceStep}>${words.trace.label}</button>
    </div>
  `;
}

/** Whether a step of a run in the Lab can be measured now. */
const canTrace = () =>
  store.active.value && store.fit.value !== null && store.labRuns.value.at(-1)?.state === "running";

/** @param {{settings: LabSettings}} props */
function Delays({ settings }) {
  const delays = delaysOf(settings);
  const words = t().lab.delays;
  return html`
    <fieldset class="lab-delays" aria-describedby="lab-delays-help">
      <legend>${words.title}</legend>
      <p id="lab-delays-help" class="lab-help">${words.about}</p>
      ${delays.map(
        (delay, place) => html`
        <${Count} key=${place} label=${words.device(place)} id=${`lab-delay-${place}`} value=${delay} least=${DELAY.least}
          most=${DELAY.most()} onChange=${(/** @type {number} */ value) =>
            set({ delays: delays.map((old, index) => (index === place ? value : old)) })} />
      `,
      )}
    </fieldset>
  `;
}

/** The speed to expect from several devices on this machine, and the measured one. @param {LabSettings} settings */
function honestly({ devices }) {
  const { info } = store.gpu.value;
  const words = t().lab.speed;
  const shared =
    info && !kindOf(store.deviceChoice.value)?.onCores && !store.avoidsSoftware.value
      ? words.shareGpu(info.name, devices)
      : words.shareCores(navigator.hardwareConcurrency || 1, devices);
  return words.honestly(shared, measured());
}

/** The speedup of the latest run on several devices, as a sentence. */
function measured() {
  const words = t().lab.speed;
  const runs = store.labRuns.value;
  const compared = runs.filter(
    (each) => each.devices > 1 && comparison(each, runs).speedup !== null,
  );
  const run = compared.findLast((each) => !each.isHeldUp);
  if (!run) return compared.length > 0 ? words.withoutDelays : words.oneFirst;
  const speedup = comparison(run, runs).speedup ?? NaN;
  return words.measured(run.id, run.devices, run.device ?? "", format.times(speedup));
}
