import { html, signal, useEffect } from "../../vendor/preact.js";
import { loadProjects } from "../lazy-projects.js";
import * as store from "../store.js";
import { Menu } from "./menu.js";

/** The content of the menu, once it has been loaded. @type {import("../../vendor/preact.js").Signal<(() => any) | null>} */
const content = signal(null);
/** Why it could not be loaded. */
const problem = signal("");

/** The name of the project, and the menu of what can be done with projects. */
export function ProjectMenu() {
  const name = store.projectName.value || "Untitled";
  return html`<${Menu} id="project-menu" title=${name} label=${`Project: ${name}`} icon="project" isNamed
    about=${`Project: ${name}. Rename, duplicate, save, open`} content=${Content} />`;
}

function Content() {
  useEffect(() => {
    if (!content.value) load();
  }, []);
  if (content.value) return html`<${content.value} />`;
  return html`<p class="hint" role="status">${problem.value
    ? `Projects could not be loaded: ${problem.value}. Reload the page to try again; your work is saved.`
    : "Loading…"}</p>`;
}

async function load() {
  try {
    const [{ ProjectPanel }] = await Promise.all([import("./project-panel.js"), loadProjects()]);
    content.value = ProjectPanel;
  } catch (failure) {
    problem.value = /** @type {Error} */ (failure).message;
  }
}
