import { html, useState } from "../../vendor/preact.js";
import { exportWeights, importWeights } from "../actions.js";
import { download } from "../download.js";
import { count } from "../format.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";

/** @typedef {{text: string, failed?: boolean}} Outcome */

/** Saves the trained weights, and loads them from files. */
export function WeightsPanel() {
  const [outcome, setOutcome] = useState(/** @type {Outcome} */ ({ text: "" }));
  const [dropping, setDropping] = useState(false);

  /** @param {Promise<string>} work resolves to a sentence */
  async function tell(work) {
    try {
      setOutcome({ text: await work });
    } catch (failure) {
      setOutcome({ text: /** @type {Error} */ (failure).message, failed: true });
    }
  }

  /** @param {"safetensors" | "npz"} format */
  async function save(format) {
    const file = await exportWeights(format);
    await download(file);
    return `Saved ${file.filename}, ${count(file.bytes.length)} bytes.`;
  }

  /** @param {FileList | null | undefined} files */
  async function load(files) {
    const file = files?.[0];
    if (!file) return "";
    const names = await importWeights(file);
    return `Loaded ${names.length} variables from ${file.name}: ${names.join(", ")}.`;
  }

  /** @param {any} event */
  function onPick(event) {
    tell(load(event.target.files)).then(() => (event.target.value = ""));
  }

  /** @param {DragEvent} event */
  function onDrop(event) {
    event.preventDefault();
    setDropping(false);
    tell(load(event.dataTransfer?.files));
  }

  /** @param {boolean} over */
  const onDrag = (over) => (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setDropping(over);
  };

  const none = !store.hasModel.value;
  return html`
    <section class="panel weights" aria-labelledby="weights-title" data-dropping=${dropping ? "" : undefined} data-takes-files
      onDragOver=${onDrag(true)} onDragLeave=${onDrag(false)} onDrop=${onDrop}>
      <div class="panel-head"><h2 id="weights-title">Weights</h2></div>
      <div class="weights-body">
        <button type="button" class="button" data-testid="export-safetensors" disabled=${none}
          onClick=${() => tell(save("safetensors"))}>
          <${Icon} name="save" />Save as safetensors
        </button>
        <button type="button" class="button" data-testid="export-npz" disabled=${none}
          onClick=${() => tell(save("npz"))}>
          <${Icon} name="save" />Save as npz
        </button>
        <label class="button file-button">
          <${Icon} name="open" />Load a file…
          <input type="file" class="visually-hidden" data-testid="import-weights"
            accept=".safetensors,.npz" onChange=${onPick} />
        </label>
        <p class="hint" role="status" data-testid="weights-outcome" data-failed=${outcome.failed ? "" : undefined}>
          ${outcome.text || (none
            ? "Run a network first. Then you can save its weights and load them again."
            : "PyTorch and NumPy can open these files. Drop a file here to load it.")}
        </p>
      </div>
    </section>
  `;
}
