import { html } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";
import { DocsLink } from "../components/docs-link.js";
import { LanguageSelect } from "../components/language-select.js";
import { PhoneBar } from "../components/phone-bar.js";
import { ThemeButton } from "../components/theme-button.js";
import { Transport } from "../components/transport.js";
import { View, ViewTabs, openPanel } from "../components/views.js";
import { CodeEditor } from "../editor/code-editor.js";
import { isPhone } from "../frame/layout.js";
import { ConsolePanel } from "../output/console-panel.js";
import { ErrorPanel } from "../output/error-panel.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { host, link } from "./watched.js";

/** The page of a training that runs elsewhere: the views of one that runs here, without its commands. */
export function WatchApp() {
  const { name, Panel } = openPanel();
  return html`
    <${WatchHeader} />
    <${Transport} />
    <main class="workspace" data-side=${store.side.value}>
      <div class="column write" tabindex="-1">
        <${WatchedProgram} />
        <${ErrorPanel} />
        <${ConsolePanel} />
      </div>
      <div class="column watch" tabindex="-1">
        ${!isPhone.value && html`<${ViewTabs} />`}
        <${View} key=${name} name=${name}><${Panel} /></${View}>
      </div>
    </main>
    ${isPhone.value && html`<${PhoneBar} />`}
  `;
}

function WatchHeader() {
  return html`
    <header class="header">
      <h1 class="brand">
        <img src=${urlOf("/static/favicon.svg")} alt="" width="24" height="24" />playgrad
      </h1>
      <strong class="watch-program" data-testid="watch-program">${store.example.value?.title}</strong>
      <${LinkChip} />
      ${!isPhone.value && html`<${DocsLink} class="docs-link" />`}
      <${LanguageSelect} />
      <${ThemeButton} />
    </header>
  `;
}

/** The state of the connection, and where the training runs. */
function LinkChip() {
  const { state, address } = link.value;
  const words = t().watching;
  return html`<span class="link-chip" data-testid="link" data-state=${state} title=${words.readOnlyAbout(host.value)}>
    <span class="link-state">${words.states[state]}</span>
    <span class="link-address">${address}</span><span class="link-only">${words.readOnly}</span></span>`;
}

/** The program, which nobody changes here. */
function WatchedProgram() {
  const words = t().watching;
  return html`
    <section class="panel editor-panel" aria-label=${t().editor.network}>
      <div class="panel-head">
        <h2>${t().editor.network}</h2>
        <span class="hint" data-testid="read-only"><span>${words.cannotEdit}</span></span>
      </div>
      <div class="network-views">
        <div class="network-view" role="group" aria-label=${t().editor.code}><${CodeEditor} /></div>
      </div>
    </section>
  `;
}
