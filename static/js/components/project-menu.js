import { html } from "../../vendor/preact.js";
import { loadProjects } from "../lazy-projects.js";
import * as store from "../store.js";
import { lazy } from "./lazy.js";
import { Menu } from "./menu.js";

const Content = lazy(async () => {
  const [{ ProjectPanel }] = await Promise.all([import("./project-panel.js"), loadProjects()]);
  return ProjectPanel;
}, { name: "Projects", waiting: "Loading…" });

/** The name of the project, and the menu of what can be done with projects. */
export function ProjectMenu() {
  const name = store.projectName.value || "Untitled";
  return html`<${Menu} id="project-menu" title=${name} label=${`Project: ${name}`} icon="project" isNamed
    about=${`Project: ${name}. Rename, duplicate, save, open`} content=${Content} />`;
}
