import { html } from "../../vendor/preact.js";
import * as actions from "../state/actions.js";
import { isPhone } from "../frame/layout.js";
import { t } from "../words/locale.js";
import { DataNote } from "../own-data/data-note.js";
import { ProjectNote } from "../session/project-note.js";
import { StorageNote } from "../session/storage-note.js";
import { UnopenedNote } from "../session/unopened-note.js";
import { SharedNote } from "../sharing/shared-note.js";
import { enabled, shortcuts } from "../frame/shortcuts.js";
import * as store from "../state/store.js";
import { LinkNote } from "../watching/link-note.js";
import { host, isWatching } from "../watching/watched.js";
import { Icon } from "./icons.js";
import { LoadNote } from "./load-note.js";
import { ProgressBar, Statistics } from "./progress.js";
import { StatusLine } from "./status-line.js";

/** @typedef {import("../frame/shortcuts.js").Command} Command */

/** The commands, the state of the run and its numbers. */
export function Transport() {
  const words = t().commands;
  return html`
    <section class="transport" aria-label=${words.section}>
      <div class="commands" role="group" aria-label=${words.group}>
        ${!isPhone.value && html`<${MainButton} />`}
        <div class="split" role="group" aria-label=${words.step.label}>
          <${CommandButton} command="step" />
          <select aria-label=${words.stepLength} disabled=${isWatching} data-testid="step-unit" value=${store.stepUnit.value}
            onChange=${(/** @type {any} */ event) => (store.stepUnit.value = event.target.value)}>
            <option value="batch">${words.batch}</option>
            <option value="epoch">${words.epoch}</option>
            <option value="operation">${words.operation}</option>
          </select>
        </div>
        <${CommandButton} command="stop" />
        <${CommandButton} command="reset" />
      </div>
      <${Statistics} />
      <${StatusLine} />
      ${isWatching && html`<${LinkNote} />`}
      <${LoadNote} />
      <${StorageNote} />
      <${UnopenedNote} />
      <${ProjectNote} />
      <${SharedNote} />
      <${DataNote} />
      <${ProgressBar} />
    </section>
  `;
}

/**
 * Run, Pause or Resume: one button, so that it stays under the pointer. It also keeps the focus, which
 * `disabled` would take away.
 */
export function MainButton() {
  const state = store.runState.value;
  const command = state === "running" ? "pause" : state === "paused" ? "resume" : "run";
  return html`<${CommandButton} command=${command} isMain />`;
}

/** @param {{command: Command, isMain?: boolean}} props */
function CommandButton({ command, isMain }) {
  const words = t().commands;
  const { label, about } = words[command];
  const shortcut = shortcuts.find((each) => each.command === command);
  const isOff = !enabled.value[command];
  const isQueued = command === "run" && store.queuedRun.value !== null;
  const isPending = store.intent.value === command;
  /** @type {Partial<Record<Command, string>>} while the engine executes the command */
  const pending = words.pending;
  const text = isQueued ? words.queued : (isPending && pending[command]) || label;
  return html`
    <button
      type="button"
      class=${isMain ? "button primary main-command" : "button"}
      data-testid=${command}
      data-pending=${isPending || isQueued ? "" : undefined}
      disabled=${!isMain && isOff}
      aria-disabled=${isMain && isOff ? "true" : undefined}
      aria-keyshortcuts=${shortcut?.aria}
      title=${isWatching ? t().watching.cannotRun(host.value) : `${about} (${shortcut?.keys})`}
      onClick=${() => isOff || actions[command]()}
    >
      <${Icon} name=${command} /><span class="button-label">${text}</span>
    </button>
  `;
}
