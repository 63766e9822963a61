import { html, useState } from "../../vendor/preact.js";
import { closeDrawer } from "../data-drawer.js";
import { problemOfName } from "../data-names.js";
import * as shelf from "../data-shelf.js";
import { offer } from "../download.js";
import { bytes, count, shape } from "../format.js";
import { beginProgram, loadInProgram } from "../own-data/use.js";
import { Icon } from "./icons.js";

/** @import { Entry } from "../data-shelf.js" */

/** The data sets that the browser keeps. */
export function DataList() {
  const [problem, setProblem] = useState("");
  const entries = shelf.entries.value ?? [];
  if (entries.length === 0) return null;
  return html`<section class="data-kept" aria-labelledby="data-kept-title">
    <h3 id="data-kept-title">Kept in this browser</h3>
    <div role="alert">${problem && html`<p class="data-problem">${problem}</p>`}</div>
    <ul data-testid="data-list">${entries.map((entry) => html`<${DataEntry} key=${entry.name} entry=${entry} setProblem=${setProblem} />`)}</ul>
  </section>`;
}

/** @param {{entry: Entry, setProblem: (problem: string) => void}} props */
function DataEntry({ entry, setProblem }) {
  const [doing, setDoing] = useState(/** @type {"" | "rename" | "remove"} */ (""));
  const { name, about } = entry;

  /** @param {() => unknown} act */
  const attempt = (act) => async () => {
    setProblem("");
    try {
      await act();
    } catch (failure) {
      setProblem(`${name}: ${/** @type {Error} */ (failure).message}`);
    }
  };
  const use = attempt(() => (loadInProgram(name), closeDrawer()));
  const begin = attempt(() => (beginProgram(name, about), closeDrawer()));
  const save = attempt(async () => offer(`${name}.npz`, new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (await shelf.fileOf(name))])));
  /** @param {SubmitEvent} event */
  async function rename(event) {
    event.preventDefault();
    const next = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("name"));
    if (next === name) return setDoing("");
    const wrong = problemOfName(next) || (shelf.has(next) ? `There is already data of the name “${next}”.` : "");
    if (wrong) return setProblem(wrong);
    await attempt(() => shelf.rename(name, next))();
    setDoing("");
  }
  const samples = `${count(about.train)} to train, ${count(about.test)} to test`;
  const task = about.classes.length > 0 ? `${about.classes.length} classes` : "numbers to predict";
  return html`<li class="data-entry" data-testid="data-entry" data-name=${name}>
    ${doing === "rename"
      ? html`<form class="data-rename" onSubmit=${rename}>
          <input name="name" class="data-name" value=${name} aria-label=${`New name of ${name}`} autocomplete="off" ref=${focusOnce} />
          <button class="button small primary">Rename</button>
          <button type="button" class="button small" onClick=${() => setDoing("")}>Cancel</button>
        </form>`
      : html`<p class="data-entry-name"><strong>${name}</strong> <span class="hint">${bytes(entry.bytes)}</span></p>`}
    <p class="hint">${samples}; ${shape(about.shape)} each; ${task}</p>
    ${entry.problem && html`<p class="data-warning">${entry.problem}</p>`}
    <div class="data-entry-actions">
      <button type="button" class="button small" data-testid="data-entry-use" onClick=${use}>Use</button>
      <button type="button" class="button small" onClick=${begin}>New program</button>
      <button type="button" class="button quiet small" data-testid="data-entry-save" onClick=${save}><${Icon} name="save" />Save as .npz</button>
      ${doing !== "rename" && html`<button type="button" class="button quiet small" data-testid="data-entry-rename"
        onClick=${() => setDoing("rename")}>Rename</button>`}
      ${doing === "remove"
        ? html`<button type="button" class="button small danger" data-testid="data-entry-remove-confirm" ref=${focusOnce}
            onClick=${attempt(() => shelf.remove(name))}>Delete it</button>
            <button type="button" class="button small" onClick=${() => setDoing("")}>Keep</button>`
        : html`<button type="button" class="button quiet small" data-testid="data-entry-remove"
            onClick=${() => setDoing("remove")}>Delete</button>`}
    </div>
  </li>`;
}

/** @param {HTMLElement | null} element */
const focusOnce = (element) => {
  element?.focus();
};
