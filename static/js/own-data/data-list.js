import { html, useState } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { offer } from "../files/download.js";
import { bytes, shape } from "../words/format.js";
import { t } from "../words/locale.js";
import { endingOf, problemOfModelName, problemOfName } from "./data-names.js";
import * as userData from "./user-data.js";
import { closeDrawer } from "./drawer-state.js";
import { beginProgram, inMemory, loadInProgram } from "./use.js";

/** @import { Entry } from "./user-data.js" */

/** The data sets and models that the browser keeps. */
export function DataList() {
  const [problem, setProblem] = useState("");
  const entries = userData.entries.value ?? [];
  if (entries.length === 0) return null;
  return html`<section class="data-kept" aria-labelledby="data-kept-title">
    <h3 id="data-kept-title">${t().data.kept.title}</h3>
    <div role="alert">${problem && html`<p class="data-problem">${problem}</p>`}</div>
    <ul data-testid="data-list">${entries.map((entry) => html`<${DataEntry} key=${entry.name} entry=${entry} setProblem=${setProblem} />`)}</ul>
  </section>`;
}

/** @param {{entry: Entry, setProblem: (problem: string) => void}} props */
function DataEntry({ entry, setProblem }) {
  const [doing, setDoing] = useState(/** @type {"" | "rename" | "remove"} */ (""));
  const { name, about } = entry;
  const words = t().data.kept;

  /** @param {() => unknown} act */
  const attempt = (act) => async () => {
    setProblem("");
    try {
      await act();
    } catch (failure) {
      const { message } = /** @type {Error} */ (failure);
      setProblem(
        words.failed(name, failure instanceof userData.LostData ? words.lost(name) : message),
      );
    }
  };
  const isModel = about.kind === "model";
  /** @param {typeof loadInProgram} use */
  const useBy = (use) =>
    attempt(() => {
      use(name, about);
      closeDrawer();
    });
  const save = attempt(async () =>
    offer(
      isModel ? name : `${name}.npz`,
      new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (await userData.fileOf(name))]),
    ),
  );
  /** @param {SubmitEvent} event */
  async function rename(event) {
    event.preventDefault();
    const next = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("name"));
    if (next === name) return setDoing("");
    const wrong =
      (isModel ? problemOfModelName(next, endingOf(name)) : problemOfName(next)) ||
      (userData.has(next) ? words.nameTaken(next) : "");
    if (wrong) return setProblem(wrong);
    await attempt(() => userData.rename(name, next))();
    setDoing("");
  }
  return html`<li class="data-entry" data-testid="data-entry" data-name=${name}>
    ${
      doing === "rename"
        ? html`<form class="data-rename" onSubmit=${rename}>
          <input name="name" class="data-name" value=${name} aria-label=${words.newName(name)} autocomplete="off" ref=${focusOnce} />
          <button class="button small primary">${words.rename}</button>
          <button type="button" class="button small" onClick=${() => setDoing("")}>${words.cancel}</button>
        </form>`
        : html`<p class="data-entry-name"><strong>${name}</strong> <span class="hint">${bytes(entry.bytes)}</span></p>`
    }
    <p class="hint">${describe(about)}</p>
    ${entry.failure && html`<p class="data-warning">${inMemory(entry.failure)}</p>`}
    <div class="data-entry-actions">
      <button type="button" class="button small" data-testid="data-entry-use" onClick=${useBy(loadInProgram)}>${words.use}</button>
      <button type="button" class="button small" onClick=${useBy(beginProgram)}>${words.begin}</button>
      <button type="button" class="button quiet small" data-testid="data-entry-save" onClick=${save}><${Icon} name="save" />${isModel ? t().dataModels.save : t().data.use.save}</button>
      ${
        doing !== "rename" &&
        html`<button type="button" class="button quiet small" data-testid="data-entry-rename"
        onClick=${() => setDoing("rename")}>${words.rename}</button>`
      }
      ${
        doing === "remove"
          ? html`<button type="button" class="button small danger" data-testid="data-entry-remove-confirm" ref=${focusOnce}
            onClick=${attempt(() => userData.remove(name))}>${words.removeNow}</button>
            <button type="button" class="button small" onClick=${() => setDoing("")}>${words.keep}</button>`
          : html`<button type="button" class="button quiet small" data-testid="data-entry-remove"
            onClick=${() => setDoing("remove")}>${words.remove}</button>`
      }
    </div>
  </li>`;
}

/** @param {Entry["about"]} about */
const describe = (about) =>
  about.kind === "model"
    ? describeModel(about)
    : about.kind === "graph"
      ? describeGraph(about)
      : describeData(about);

/** @param {Pick<import("./user-data.js").GraphAbout, "nodes" | "edges" | "known" | "features" | "classes">} about */
export function describeGraph({ nodes, edges, known, features, classes }) {
  const words = t().dataGraphs;
  return t().numbers.sentences([
    words.size(nodes, edges, features),
    classes.length > 0 ? words.known(known, nodes, classes.length) : words.numbers(known, nodes),
  ]);
}

/** @param {import("./user-data.js").About} about */
function describeData({ train, test, shape: sizes, classes }) {
  const { kept, counts, classes: number, numbers } = t().data;
  return kept.about(
    counts(train, test),
    shape(sizes),
    classes.length > 0 ? number(classes.length) : numbers,
  );
}

/** @param {import("../../engine/messages.js").ModelFile} about */
export function describeModel({ parameters, layers, compiled, sequence_length: steps, ...sides }) {
  const words = t().dataModels;
  const tensors = (/** @type {import("../../engine/messages.js").ModelTensor[]} */ list) =>
    list.map((each) => words.tensor(shape(each.shape), each.dtype));
  return t().numbers.sentences([
    words.size(layers, parameters),
    words.sides(tensors(sides.inputs), tensors(sides.outputs)),
    steps ? words.fixed(steps) : "",
    compiled ? words.compiled : "",
  ]);
}

/** @param {HTMLElement | null} element */
const focusOnce = (element) => {
  element?.focus();
};
