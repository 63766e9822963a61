import { html, useEffect, useState } from "../../vendor/preact.js";
import { bytes as size } from "../words/format.js";
import { t } from "../words/locale.js";
import { modelFile } from "../files/model-files.js";
import * as store from "../state/store.js";
import { describeModel } from "./data-list.js";
import {
  endingOf,
  missingModels,
  problemOfModelName,
  suggestedModelName,
  usedModels,
} from "./data-names.js";
import * as userData from "./user-data.js";
import { loadCall } from "./model-line.js";
import { NameField } from "./name-field.js";
import { beginProgram, keep, loadInProgram } from "./use.js";

/** @import { ModelFile } from "../../engine/messages.js" */

/** As in `playgrad.interchange.bounds`; a test compares them. */
const LONGEST_SEQUENCE = 10_000;

/** What a file of a model has in it, its name, and the ways to use it. @param {{draft: {name: string, bytes: Uint8Array<ArrayBuffer>}}} props */
export function ModelForm({ draft: { name: file, bytes } }) {
  const [about, setAbout] = useState(/** @type {ModelFile | null} */ (null));
  const [problem, setProblem] = useState("");
  const [isOpen, setOpen] = useState(false); // it takes sequences of any length
  const [length, setLength] = useState(/** @type {number | undefined} */ (undefined));
  useEffect(() => {
    setProblem("");
    modelFile(file.slice(0, -endingOf(file).length) + endingOf(file), bytes, length).then(
      setAbout,
      (failure) => {
        if (failure.info?.type === "SequenceLengthError") setOpen(true);
        else setProblem(failure.message);
      },
    );
  }, [file, bytes, length]);
  const words = t().dataModels;
  return html`<section class="data-form" aria-label=${words.label(file)}>
    <h3>${file} <span class="hint">${size(bytes.length)}</span></h3>
    <div role="alert">${problem && html`<p class="data-problem" data-testid="data-problem">${problem}</p>`}</div>
    ${isOpen && !about && html`<${SequenceLength} choose=${setLength} />`}
    ${!about && !problem && (!isOpen || length) && html`<p class="hint" role="status">${store.engine.value === "starting" ? words.waiting : words.reading}</p>`}
    ${about && html`<p class="data-summary" data-testid="model-summary">${describeModel(about)}</p><${UseModel} ...${{ file, bytes, about }} />`}
  </section>`;
}

/** Asks for the number of steps in the samples of a model. @param {{choose: (length: number) => void}} props */
function SequenceLength({ choose }) {
  const words = t().dataModels;
  /** @param {SubmitEvent} event */
  function submit(event) {
    event.preventDefault();
    choose(Number(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("length")));
  }
  return html`<form onSubmit=${submit} data-testid="sequence-length">
    <p role="status">${words.open}</p>
    <div class="data-fields">
      <label class="data-field"><span>${words.steps}</span>
        <input class="data-seed" name="length" type="number" required min="1" max=${LONGEST_SEQUENCE} step="1" autocomplete="off" /></label>
      <button class="button">${words.read}</button>
    </div>
  </form>`;
}

/** @param {{file: string, bytes: Uint8Array<ArrayBuffer>, about: ModelFile}} props */
function UseModel({ file, bytes, about }) {
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const ending = endingOf(file);
  const missing = missingModels.value.find((each) => endingOf(each) === ending);
  const name =
    typed ??
    missing ??
    suggestedModelName(
      file,
      userData.modelNames.value.filter((each) => !usedModels.value.includes(each)),
    );
  const wrong = problemOfModelName(name, ending);

  /** @param {typeof loadInProgram} use */
  const keepFor = (use) => () => keep(name, bytes, { kind: "model", ...about }, use);
  const words = t().dataModels;
  return html`
    <${NameField} name=${name} wrong=${wrong} onName=${setTyped}
      hint=${userData.has(name) ? words.replaces(name) : ""} />
    <div class="data-ways">
      <button type="button" class="button primary" data-testid="model-use" disabled=${wrong !== ""} onClick=${keepFor(loadInProgram)}
        title=${words.nowIs}>${words.now}</button>
      <button type="button" class="button" data-testid="model-begin" disabled=${wrong !== ""} onClick=${keepFor(beginProgram)}
        title=${words.beginIs}>${words.begin}</button>
    </div>
    <p class="hint"><code>${`model = ${loadCall({ name, length: about.sequence_length })}`}</code></p>`;
}
