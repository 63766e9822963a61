/** Starts the page in a frame of another site (docs/decisions/023-embedding.md). It shows the program of its address. */

import { batch, html, render } from "../vendor/preact.js";
import { startEngine } from "./state/actions.js";
import { missingFeature } from "./start/boot-features.js";
import { EmbedApp } from "./components/embed-app.js";
import { showPreferred, t } from "./words/locale.js";
import { recordRuns } from "./session/run-recorder.js";
import { LinkError, decode, isLink } from "./sharing/link.js";
import { showProgram } from "./sharing/sharing.js";
import { listenForShortcuts } from "./frame/shortcuts.js";
import * as store from "./state/store.js";

/** @import { Shared } from "./sharing/link.js" */

await showPreferred(store.note);
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
const arrival = await read();
const mode = "problem" in arrival ? "empty" : missingFeature() ? "still" : "live";
if ("shared" in arrival) show(arrival.shared);
render(
  html`<${EmbedApp} mode=${mode} problem=${"problem" in arrival ? arrival.problem : ""} />`,
  root,
);
addEventListener("hashchange", () => location.reload());
if (mode === "live") {
  listenForShortcuts();
  recordRuns();
  startEngine();
}

/** The program in the address, or its problem. @returns {Promise<{shared: Shared} | {problem: string}>} */
async function read() {
  if (!isLink(location.hash)) {
    return { problem: t().embed.isEmpty };
  }
  try {
    return { shared: await decode(location.hash) };
  } catch (failure) {
    if (failure instanceof LinkError) return { problem: failure.message };
    throw failure;
  }
}

/** Show the program as the only example, to which Reset code returns. @param {Shared} shared */
function show(shared) {
  const exampleId = shared.exampleId || "program";
  batch(() => {
    store.examples.value = [
      { id: exampleId, title: shared.title, description: t().editor.fromLink, source: shared.code },
    ];
    showProgram({ ...shared, exampleId });
  });
  document.title = `${shared.title} – playgrad`;
}
