import { html } from "../../vendor/preact.js";
import * as store from "../store.js";
import { ConsolePanel } from "./console-panel.js";
import { CurvesPanel } from "./curves-panel.js";
import { DigitPanel } from "./digit-panel.js";
import { EditorPanel } from "./editor-panel.js";
import { ErrorPanel } from "./error-panel.js";
import { GraphPanel } from "./graph-panel.js";
import { Header } from "./header.js";
import { LabPanel } from "./lab-panel.js";
import { Transport } from "./transport.js";
import { View, ViewTabs } from "./views.js";
import { WeightsPanel } from "./weights-panel.js";

/** The whole page: code and output in one column, training or the Lab in the other. */
export function App() {
  return html`
    <${Header} />
    <${Transport} />
    <main class="workspace">
      <div class="column write">
        <${EditorPanel} />
        <${ErrorPanel} />
        <${ConsolePanel} />
      </div>
      <div class="column watch">
        <${ViewTabs} />
        ${store.view.value === "lab"
          ? html`<${View} key="lab" name="lab"><${LabPanel} /></${View}>`
          : html`<${View} key="training" name="training">
              <${CurvesPanel} />
              <div class="side-by-side">
                <${DigitPanel} />
                <${WeightsPanel} />
              </div>
            </${View}>`}
        <${GraphPanel} />
      </div>
    </main>
  `;
}
