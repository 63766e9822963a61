import { html } from "../../vendor/preact.js";
import { EditorPanel } from "../editor/editor-panel.js";
import { LazyExamples } from "../gallery/lazy-examples.js";
import { LazyTrials } from "../trials/lazy-trials.js";
import { isPhone, isWide } from "../frame/layout.js";
import { ConsolePanel } from "../output/console-panel.js";
import { ErrorPanel } from "../output/error-panel.js";
import { LeftProblems } from "../output/left-problems.js";
import { LazyDataDrawer } from "../own-data/lazy-data-drawer.js";
import { panels } from "../panels/panels.js";
import { LazyDoctor } from "../panels/watch/lazy-doctor.js";
import { hidden } from "../sharing/hidden.js";
import * as store from "../state/store.js";
import { Header } from "./header.js";
import { PhoneBar } from "./phone-bar.js";
import { SkipLinks } from "./skip-links.js";
import { Transport } from "./transport.js";
import { View, ViewTabs, openPanel } from "./views.js";

/** The whole page: the network and its output in one column, panels in the other. */
export function App() {
  return html`
    <${SkipLinks} />
    <${Header} />
    <${Workspace} />
    <${LazyDataDrawer} />
    <${LazyExamples} />
    <${LazyTrials} />
  `;
}

/** All below the header. */
export function Workspace() {
  const { name, Panel } = openPanel();
  const beside = isWide.value
    ? panels().filter(({ name: id, besideOthers }) => besideOthers && !hidden.value.has(id))
    : [];
  return html`
    <${Transport} />
    <main class="workspace" data-side=${store.side.value}>
      <div class="column write" tabindex="-1">
        <${EditorPanel} />
        <${ErrorPanel} />
        <${LeftProblems} />
        ${!isPhone.value && html`<${LazyDoctor} />`}
        ${!hidden.value.has("output") && html`<${ConsolePanel} />`}
      </div>
      <div class="column watch" tabindex="-1">
        ${!isPhone.value && html`<${ViewTabs} />`}
        <${View} key=${name} name=${name}><${Panel} /></${View}>
      </div>
      ${beside.map(({ name: id, Panel: Beside }) => html`<div class="column beside" key=${id}><${Beside} /></div>`)}
    </main>
    ${isPhone.value && html`<${PhoneBar} />`}
  `;
}
