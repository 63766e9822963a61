import { html, useEffect, useState } from "../../vendor/preact.js";
import { bytes as size } from "../format.js";
import { t } from "../locale.js";
import { modelFile } from "../model-files.js";
import * as store from "../store.js";
import { describeModel, inMemory } from "./data-list.js";
import {
  endingOf,
  missingModels,
  problemOfModelName,
  suggestedModelName,
  usedModels,
} from "./data-names.js";
import * as shelf from "./data-shelf.js";
import { closeDrawer } from "./drawer-state.js";
import { beginModelProgram, loadModelInProgram } from "./model-use.js";

/** @import { ModelFile } from "../../engine/messages.js" */

/** What a file of a model has in it, its name, and the ways to use it. @param {{draft: {name: string, bytes: Uint8Array<ArrayBuffer>}}} props */
export function ModelForm({ draft: { name: file, bytes } }) {
  const [about, setAbout] = useState(/** @type {ModelFile | null} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    modelFile(file.slice(0, -endingOf(file).length) + endingOf(file), bytes).then(
      setAbout,
      (failure) => setProblem(failure.message),
    );
  }, [file, bytes]);
  const words = t().dataModels;
  return html`<section class="data-form" aria-label=${words.label(file)}>
    <h3>${file} <span class="hint">${size(bytes.length)}</span></h3>
    <div role="alert">${problem && html`<p class="data-problem" data-testid="data-problem">${problem}</p>`}</div>
    ${!about && !problem && html`<p class="hint" role="status">${store.engine.value === "starting" ? words.waiting : words.reading}</p>`}
    ${about && html`<p class="data-summary" data-testid="model-summary">${describeModel(about)}</p><${UseModel} ...${{ file, bytes, about }} />`}
  </section>`;
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
      shelf.modelNames.value.filter((each) => !usedModels.value.includes(each)),
    );
  const wrong = problemOfModelName(name, ending);

  /** @param {() => void} then */
  const keep = (then) => async () => {
    const entry = await shelf.keep(name, bytes, { kind: "model", ...about });
    then();
    closeDrawer();
    if (entry.failure) store.note(inMemory(entry.failure));
  };
  const words = t().dataModels;
  return html`
    <div class="data-fields">
      <label class="data-field"><span>${t().data.names.label}</span>
        <input class="data-name" data-testid="data-name" value=${name} autocomplete="off" spellcheck="false" aria-invalid=${wrong !== ""}
          onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} /></label>
    </div>
    <p class="hint" role="status">${wrong || (shelf.has(name) ? words.replaces(name) : "")}</p>
    <div class="data-ways">
      <button type="button" class="button primary" data-testid="model-use" disabled=${wrong !== ""} onClick=${keep(() => loadModelInProgram(name))}
        title=${words.nowIs}>${words.now}</button>
      <button type="button" class="button" data-testid="model-begin" disabled=${wrong !== ""} onClick=${keep(() => beginModelProgram(name, about))}
        title=${words.beginIs}>${words.begin}</button>
    </div>
    <p class="hint"><code>${`model = pg.load_model("${name}")`}</code></p>`;
}
