import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import * as format from "../format.js";
import { ENDING, LONGEST_NAME } from "../project-file.js";
import * as work from "../projects.js";
import { isGuarded } from "../session.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";

/** @import { Listed } from "../projects.js" */

/** The name of the project, what can be done with it, and the other projects. */
export function ProjectPanel() {
  useEffect(() => void work.findProjects(), []);
  const isBusy = store.active.value || store.queuedRun.value !== null;
  return html`
    <${NameField} />
    <div class="project-actions">
      ${action("project-new", "plus", "New", "Begin a new project; this one stays in the list", work.newProject, isBusy)}
      ${action("project-duplicate", "copy", "Duplicate", "Go on with a copy, weights included", work.duplicateProject, isBusy)}
      ${action("project-save", "save", "Save as file", `Save everything as one ${ENDING} file`, work.saveProject)}
      <label class="button file-button project-action" title=${`Open a ${ENDING} file. It can also be dropped anywhere on the page`}
        data-disabled=${isBusy ? "" : undefined}>
        <${Icon} name="open" />Open file…
        <input type="file" class="visually-hidden" data-testid="project-open-file" disabled=${isBusy} onChange=${pick} />
      </label>
    </div>
    ${isBusy && html`<p class="hint">Stop the run to open, duplicate or begin a project.</p>`}
    ${store.projectProblem.value && html`<p class="hint" data-failed>${store.projectProblem.value}</p>`}
    <${Removed} />
    <${List} isBusy=${isBusy} />
  `;
}

/** @param {any} event */
function pick({ target }) {
  const [file] = target.files;
  if (file) work.openProjectFile(file).finally(() => (target.value = ""));
}

/**
 * @param {string} id
 * @param {string} icon
 * @param {string} label
 * @param {string} about
 * @param {() => unknown} act
 * @param {boolean} [isOff]
 */
const action = (id, icon, label, about, act, isOff = false) => html`
  <button type="button" class="button project-action" data-testid=${id} title=${about} disabled=${isOff} onClick=${act}>
    <${Icon} name=${icon} />${label}
  </button>
`;

/** The name, to be changed in place: Enter keeps it, Escape brings the old one back. */
function NameField() {
  const [draft, setDraft] = useState(store.projectName.value);

  /** @param {string} name */
  function keep(name) {
    if (name !== store.projectName.value) work.rename(name);
    setDraft(store.projectName.value);
  }

  /** @param {KeyboardEvent & {target: HTMLInputElement}} event */
  function onKeyDown(event) {
    if (event.key === "Enter") keep(event.target.value);
    if (event.key !== "Escape" || draft === store.projectName.value) return;
    event.stopPropagation(); // this undoes the change; the next one closes the menu
    setDraft(store.projectName.value);
  }

  return html`
    <label class="project-name-field">
      <span class="hint">Name</span>
      <input data-testid="project-name" value=${draft} maxlength=${LONGEST_NAME} placeholder="Untitled" autocomplete="off"
        spellcheck=${false} onInput=${(/** @type {any} */ { target }) => setDraft(target.value)}
        onChange=${(/** @type {any} */ { target }) => keep(target.value)} onKeyDown=${onKeyDown} />
    </label>
  `;
}

/** Offers to undo the last removal. */
function Removed() {
  const last = work.removed.value;
  const undo = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // The button that removed it has gone, and the focus with it.
    if (document.activeElement === document.body) undo.current?.focus();
  }, [last]);
  return html`<div role="status">${last && html`
    <p class="project-removed"><span>Removed: ${last.label}</span>
      <button type="button" class="link" data-testid="project-undo" ref=${undo} onClick=${work.undoRemoval}>Undo</button></p>`}</div>`;
}

/** @param {{isBusy: boolean}} props */
function List({ isBusy }) {
  const projects = work.projects.value;
  return html`
    <h3 class="project-heading">Other projects in this browser</h3>
    ${projects.length === 0
      ? html`<p class="hint">None yet. Everything is saved by itself. A project with a name stays until you remove it; of
          those without one, the last ten stay.</p>`
      : html`<ul>${projects.map((each) => html`<${Entry} key=${each.id} project=${each} isBusy=${isBusy} />`)}</ul>`}
    ${!isGuarded() && html`<p class="hint">This browser has no Web Locks, so each reload continues a copy, and the
      original stays here without its name.</p>`}
  `;
}

/** @param {{project: Listed, isBusy: boolean}} props */
function Entry({ project, isBusy }) {
  const { id, title, edited, saved, isOpen } = project;
  const name = work.nameOf(project);
  const when = format.moment(new Date(saved));
  return html`
    <li class="project-entry" data-testid="project-entry">
      <button type="button" class="project-open" data-testid="project-open" disabled=${isBusy || isOpen}
        onClick=${() => work.openProject(id)}>
        <strong data-unnamed=${project.name ? undefined : ""}>${name}</strong>
        <span class="hint">${title}${edited ? ", edited" : ""}</span>
        <span class="hint">${isOpen ? "open in another tab" : `${progressOf(project)} · ${when}`}</span>
      </button>
      <button type="button" class="button quiet icon-only" aria-label=${`Remove ${name}, ${title}, of ${when}`} disabled=${isOpen}
        title="Remove" data-testid="project-remove" onClick=${() => work.removeProject(project)}><${Icon} name="remove" /></button>
    </li>
  `;
}

/** @param {Listed} project */
function progressOf({ state, step, totalSteps }) {
  if (totalSteps === 0 || step === 0) return state === "error" ? "ended with an error" : "not trained";
  if (step >= totalSteps) return `trained, ${format.count(step)} steps`;
  return `${state === "error" ? "error at" : "stopped at"} step ${format.count(step)} of ${format.count(totalSteps)}`;
}
