import { html, useState } from "../../../vendor/preact.js";
import { Icon } from "../../components/icons.js";
import { lazy } from "../../components/lazy.js";
import { download } from "../../files/download.js";
import { t } from "../../words/locale.js";
import { exportModel, importWeights } from "../../files/model-files.js";
import * as store from "../../state/store.js";

/**
 * @import { Matching } from "../../../engine/messages.js"
 * @typedef {{text: string, failed?: boolean}} Outcome
 */

const MatchingDialog = lazy(
  async () => (await import("./matching-dialog.js")).MatchingDialog,
  () => ({ name: t().matching.name, waiting: t().loading.waiting }),
);

/** Saves the trained weights, and loads them from files. */
export function WeightsPanel() {
  const [outcome, setOutcome] = useState(/** @type {Outcome} */ ({ text: "" }));
  const [dropping, setDropping] = useState(false);
  const [other, setOther] = useState(/** @type {{file: File, matching: Matching} | null} */ (null));

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
    const file = await exportModel(format);
    await download(file);
    return t().weights.saved(file.filename, file.bytes.length);
  }

  /** @param {FileList | null | undefined} files */
  async function load(files) {
    const file = files?.[0];
    if (!file) return "";
    const { names, matching } = await importWeights(file);
    if (!matching) return t().weights.loaded(names, file.name);
    setOther({ file, matching });
    return t().weights.otherNames(file.name);
  }

  /** @param {Record<string, string>} chosen @returns {Promise<string | null>} why they were not loaded */
  async function loadMatched(chosen) {
    if (!other) return null;
    try {
      const { names } = await importWeights(other.file, chosen);
      setOutcome({ text: t().weights.loaded(names, other.file.name) });
      setOther(null);
      return null;
    } catch (failure) {
      return /** @type {Error} */ (failure).message;
    }
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

  function loadNone() {
    setOutcome({ text: t().weights.notLoaded(other?.file.name ?? "") });
    setOther(null);
  }

  const none = !store.hasModel.value;
  const words = t().weights;
  return html`
    <section class="panel weights" aria-labelledby="weights-title" data-dropping=${dropping ? "" : undefined} data-takes-files
      onDragOver=${onDrag(true)} onDragLeave=${onDrag(false)} onDrop=${onDrop}>
      <div class="panel-head"><h2 id="weights-title">${words.title}</h2></div>
      <div class="weights-body">
        <button type="button" class="button" data-testid="export-safetensors" disabled=${none}
          onClick=${() => tell(save("safetensors"))}>
          <${Icon} name="save" />${words.saveSafetensors}
        </button>
        <button type="button" class="button" data-testid="export-npz" disabled=${none}
          onClick=${() => tell(save("npz"))}>
          <${Icon} name="save" />${words.saveNpz}
        </button>
        <label class="button file-button">
          <${Icon} name="open" />${words.load}
          <input type="file" class="visually-hidden" data-testid="import-weights"
            accept=".safetensors,.npz,.pt,.pth,.h5" onChange=${onPick} />
        </label>
        <p class="hint" role="status" data-testid="weights-outcome" data-failed=${outcome.failed ? "" : undefined}>
          ${outcome.text || (none ? words.none : words.about)}
        </p>
      </div>
      ${other && html`<${MatchingDialog} file=${other.file.name} matching=${other.matching} apply=${loadMatched} close=${loadNone} />`}
    </section>
  `;
}
