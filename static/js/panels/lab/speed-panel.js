import { html } from "../../../vendor/preact.js";
import { GpuLink } from "../../components/docs-link.js";
import { Icon } from "../../components/icons.js";
import * as store from "../../state/store.js";
import { SpeedTable } from "./speed-table.js";
import { named, words } from "./speed-words.js";
import * as speed from "./speed.js";

/** Measures how fast this machine trains, and shows it beside a known card. */
export function SpeedPanel() {
  const said = words();
  const state = speed.measured.value;
  return html`
    <div class="speed" data-testid="speed">
      <p class="hint">${said.about} <${GpuLink} text=${said.docs} /></p>
      <${Devices} />
      <${Commands} />
      <${Progress} />
      <p class="speed-problem" role="alert">${speed.problem.value}</p>
      ${
        state &&
        html`
        <${SpeedTable} state=${state} />
        <p class="hint">${said.explained} ${said.card(state.card.name, state.card.date, state.card.runner, state.card.driver)}</p>`
      }
      <p class="hint" role="status" data-testid="speed-remark">${speed.remark.value}</p>
    </div>
  `;
}

const isBusy = () => ["measuring", "stopping"].includes(speed.work.value);

/** The choice of what is measured. */
function Devices() {
  const said = words();
  const { info } = store.gpu.value;
  const { gpu, cpu } = speed.chosen();
  return html`
    <fieldset class="speed-devices" disabled=${isBusy()}>
      <legend>${said.devices}</legend>
      <label class="toggle"><input type="checkbox" checked=${gpu} disabled=${!info} data-testid="speed-gpu"
        onChange=${(/** @type {any} */ event) => speed.choose("gpu", event.target.checked)} />
        ${info ? said.gpu(info.name, info.is_software) : said.noGpu}</label>
      <label class="toggle"><input type="checkbox" checked=${cpu} data-testid="speed-cpu"
        onChange=${(/** @type {any} */ event) => speed.choose("cpu", event.target.checked)} />
        ${said.cpu(speed.processor())}</label>
    </fieldset>
  `;
}

/** The buttons: measure or stop, copy and save. */
function Commands() {
  const said = words();
  const { gpu, cpu } = speed.chosen();
  const isUp = store.engine.value === "up";
  const isOff = !isUp || store.active.value || !(gpu || cpu);
  const why = !isUp ? said.waiting : store.active.value ? said.whileTraining : undefined;
  const hasTexts = speed.texts.value !== null;
  return html`
    <div class="speed-commands">
      ${
        isBusy()
          ? html`<button key="stop" type="button" class="button small" data-testid="speed-stop" onClick=${speed.stop}
            disabled=${speed.work.value === "stopping"}><${Icon} name="stop" />${speed.work.value === "stopping" ? said.stopping : said.stop}</button>`
          : html`<button key="measure" type="button" class="button small primary" data-testid="speed-measure" onClick=${speed.measure}
            disabled=${isOff} title=${why}><${Icon} name="run" />${speed.measured.value ? said.again : said.measure}</button>`
      }
      ${
        hasTexts &&
        html`
        <button type="button" class="button small" data-testid="speed-copy" onClick=${speed.copy}>${said.copy}</button>
        <button type="button" class="button small" data-testid="speed-save" onClick=${speed.save}>${said.save}</button>`
      }
      ${why && html`<span class="hint">${why}</span>`}
    </div>
  `;
}

/** How far the measurement is. */
function Progress() {
  const said = words();
  const { rows, row } = speed.measured.value ?? { rows: [], row: null };
  const ended = rows.filter(({ state }) => state === "done" || state === "failed").length;
  const current = row === null ? undefined : rows[row];
  const isAtWork = isBusy() && current !== undefined;
  const sentence =
    isAtWork && row !== null
      ? said.progress(
          named(current.title),
          current.device.toUpperCase(),
          said.states[current.state],
          row + 1,
          rows.length,
        )
      : speed.work.value === "done"
        ? said.done(ended)
        : speed.work.value === "stopped" && rows.length > 0
          ? said.stopped(ended, rows.length)
          : "";
  const spoken = isAtWork ? named(current.title) : sentence;
  return html`
    ${isBusy() && html`<progress class="speed-progress" max=${rows.length || 1} value=${ended} aria-label=${words().measure}></progress>`}
    <p class="hint" aria-hidden="true" data-testid="speed-progress">${sentence}</p>
    <p class="visually-hidden" role="status" data-testid="speed-status">${spoken}</p>
  `;
}
