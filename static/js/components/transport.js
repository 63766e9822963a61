import { html } from "../../vendor/preact.js";
import * as actions from "../actions.js";
import { enabled, shortcuts } from "../shortcuts.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";
import { LoadNote } from "./load-note.js";
import { ProgressBar, Statistics } from "./progress.js";
import { StatusLine } from "./status-line.js";
import { StorageNote } from "./storage-note.js";

/** @typedef {import("../shortcuts.js").Command} Command */

/** @type {[Command, string, string][]} command, label, description */
const COMMANDS = [
  ["run", "Run", "Run the code from the top"],
  ["pause", "Pause", "Pause after the current batch"],
  ["resume", "Resume", "Continue training, also after a stop or a reload"],
  ["step", "Step", "Train one batch, then pause"],
  ["stop", "Stop", "Stop the run; keep curves and weights"],
  ["reset", "Reset", "Clear curves and weights; keep the code"],
];

/** Labels of buttons while the engine executes the command. @type {Partial<Record<Command, string>>} */
const PENDING = { pause: "Pausing", stop: "Stopping", reset: "Resetting" };

/** The commands, the state of the run and its numbers. */
export function Transport() {
  return html`
    <section class="transport" aria-label="Training">
      <div class="commands" role="group" aria-label="Commands">
        ${COMMANDS.map(([command, label, about]) => html`
          <${CommandButton} key=${command} command=${command} label=${label} about=${about} />
        `)}
      </div>
      <label class="device-choice" title="The device to train on, unless the code chooses one">
        <span>Device</span>
        <select
          data-testid="device-select"
          value=${store.deviceChoice.value}
          onChange=${(/** @type {any} */ event) => (store.deviceChoice.value = event.target.value)}
        >
          <option value="auto">Auto</option>
          <option value="gpu">${hasNoGpu() ? "GPU (none found)" : "GPU"}</option>
          <option value="cpu">CPU</option>
        </select>
      </label>
      <${StatusLine} />
      <${Statistics} />
      <${LoadNote} />
      <${StorageNote} />
      <${ProgressBar} />
    </section>
  `;
}

/** Whether the browser has been asked for a GPU in vain. */
const hasNoGpu = () => store.gpu.value.known && !store.gpu.value.info;

/** @param {{command: Command, label: string, about: string}} props */
function CommandButton({ command, label, about }) {
  const shortcut = shortcuts.find((each) => each.command === command);
  const isQueued = command === "run" && store.queuedRun.value !== null;
  const isPending = store.intent.value === command;
  const text = isQueued ? "Queued" : (isPending && PENDING[command]) || label;
  return html`
    <button
      type="button"
      class=${command === "run" ? "button primary" : "button"}
      data-testid=${command}
      data-pending=${isPending || isQueued ? "" : undefined}
      disabled=${!enabled.value[command]}
      aria-keyshortcuts=${shortcut?.aria}
      title=${`${about} (${shortcut?.keys})`}
      onClick=${() => actions[command]()}
    >
      <${Icon} name=${command} /><span class="button-label">${text}</span>
    </button>
  `;
}
