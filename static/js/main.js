/** Starts the page. */

import { html, render } from "../vendor/preact.js";
import { startEngine } from "./actions.js";
import { App } from "./components/app.js";
import { loadExamples } from "./examples.js";
import { keepFocus } from "./focus.js";
import { openSession } from "./session.js";
import { listenForShortcuts } from "./shortcuts.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
render(html`<${App} />`, root);
listenForShortcuts();
startEngine();
keepFocus(loadExamples(openSession()));
