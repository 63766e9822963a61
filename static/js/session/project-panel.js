import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import * as format from "../words/format.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { ENDING, LONGEST_NAME } from "./project-file.js";
import * as work from "./projects.js";
import { isGuarded } from "./session.js";

/** @import { Listed } from "./projects.js" */

/** The name of the project, its actions, and the other projects. */
export function ProjectPanel() {
  useEffect(() => void work.findProjects(), []);
  const isBusy = store.active.value || store.queuedRun.value !== null;
  const words = t().projects;
  return html`
    <${NameField} />
    <div class="project-actions">
      ${action("project-new", "plus", words.new, words.newAbout, work.newProject, isBusy)}
      ${action("project-duplicate", "copy", words.duplicate, words.duplicateAbout, work.duplicateProject, isBusy)}
      ${action("project-save", "save", words.save, words.saveAbout(ENDING), work.saveProject)}
      <label class="button file-button project-action" title=${words.openAbout(ENDING)}
        data-disabled=${isBusy ? "" : undefined}>
        <${Icon} name="open" />${words.open}
        <input type="file" class="visually-hidden" data-testid="project-open-file" disabled=${isBusy} onChange=${pick} />
      </label>
    </div>
    ${isBusy && html`<p class="hint">${words.isBusy}</p>`}
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
      <span class="hint">${t().projects.name}</span>
      <input data-testid="project-name" value=${draft} maxlength=${LONGEST_NAME} placeholder=${t().projects.untitled} autocomplete="off"
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
  return html`<div role="status">${
    last &&
    html`
    <p class="project-removed"><span>${t().projects.removed(last.label)}</span>
      <button type="button" class="link" data-testid="project-undo" ref=${undo} onClick=${work.undoRemoval}>${t().notes.undo}</button></p>`
  }</div>`;
}

/** @param {{isBusy: boolean}} props */
function List({ isBusy }) {
  const projects = work.projects.value;
  return html`
    <h2 class="project-heading">${t().projects.others}</h2>
    ${
      projects.length === 0
        ? html`<p class="hint">${t().projects.none}</p>`
        : html`<ul>${projects.map((each) => html`<${Entry} key=${each.id} project=${each} isBusy=${isBusy} />`)}</ul>`
    }
    ${!isGuarded() && html`<p class="hint">${t().projects.unguarded}</p>`}
  `;
}

/** @param {{project: Listed, isBusy: boolean}} props */
function Entry({ project, isBusy }) {
  const { id, title, edited, saved, isOpen } = project;
  const name = work.nameOf(project);
  const when = format.moment(new Date(saved));
  const words = t().projects;
  return html`
    <li class="project-entry" data-testid="project-entry">
      <button type="button" class="project-open" data-testid="project-open" disabled=${isBusy || isOpen}
        onClick=${() => work.openProject(id)}>
        <strong data-unnamed=${project.name ? undefined : ""}>${name}</strong>
        <span class="hint">${edited ? words.edited(title) : title}</span>
        <span class="hint">${isOpen ? words.isOpen : words.state(progressOf(project), when)}</span>
      </button>
      <button type="button" class="button quiet icon-only" aria-label=${words.removeThis(name, title, when)} disabled=${isOpen}
        title=${words.remove} data-testid="project-remove" onClick=${() => work.removeProject(project)}><${Icon} name="remove" /></button>
    </li>
  `;
}

/** @param {Listed} project */
function progressOf({ state, step, totalSteps }) {
  const words = t().projects;
  if (totalSteps === 0 || step === 0)
    return state === "error" ? words.endedWithError : words.notTrained;
  if (step >= totalSteps) return words.trained(step);
  return state === "error" ? words.errorAt(step, totalSteps) : words.stoppedAt(step, totalSteps);
}
