import { html } from "../../vendor/preact.js";
import { lazy } from "../components/lazy.js";
import { Menu } from "../components/menu.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { loadProjects } from "./lazy-projects.js";

const Content = lazy(
  async () => {
    const [{ ProjectPanel }] = await Promise.all([import("./project-panel.js"), loadProjects()]);
    return ProjectPanel;
  },
  () => ({ name: t().projects.title, waiting: t().loading.waiting }),
);

/** The name of the project, and the menu of actions on projects. */
export function ProjectMenu() {
  const words = t().projects;
  const name = store.projectName.value || words.untitled;
  return html`<${Menu} id="project-menu" title=${name} label=${words.label(name)} icon="project" isNamed
    about=${words.about(name)} content=${Content} />`;
}
