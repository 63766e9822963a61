/** Starts the page of a training that runs elsewhere (docs/decisions/042-trainings-are-watched-by-their-events.md). */

import { html, render } from "../vendor/preact.js";
import { recordRuns } from "./session/run-recorder.js";
import { WatchApp } from "./watching/watch-app.js";
import { followTraining } from "./watching/events.js";
import { showPreferred } from "./words/locale.js";
import * as store from "./state/store.js";

await showPreferred(store.note);
render(html`<${WatchApp} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
recordRuns();
followTraining();
