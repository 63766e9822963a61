/** Starts the page. */

import { Component, html, render } from "../vendor/preact.js";
import { startEngine } from "./state/actions.js";
import { App } from "./components/app.js";
import { loadExamples } from "./gallery/examples.js";
import { keepFocus } from "./frame/focus.js";
import { isPhone } from "./frame/layout.js";
import { showPreferred } from "./words/locale.js";
import { keepForLater } from "./start/offline.js";
import { makeOwnImage } from "./start/own-image.js";
import { rehearseFirstRun } from "./start/rehearsal.js";
import { listenForDrops } from "./own-data/dropped-files.js";
import { beginOpening, failOpenings } from "./session/opening.js";
import { recordLeftRun, recordRuns } from "./session/run-recorder.js";
import { leaveSession, openSession, saveNow } from "./session/session.js";
import {
  arrivedProgram,
  forgetAddress,
  linkId,
  listenForLinks,
  showProgram,
} from "./sharing/sharing.js";
import { listenForShortcuts } from "./frame/shortcuts.js";
import * as store from "./state/store.js";

/** Notes that the session or link being opened cannot be drawn; the error propagates as usual. */
class Root extends Component {
  /** @override */
  componentDidCatch() {
    failOpenings();
  }

  /** @override */
  render() {
    return html`<${App} />`;
  }
}

await showPreferred(store.note);
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
render(html`<${Root} />`, root);
listenForShortcuts();
listenForLinks();
listenForDrops();
recordRuns();
startEngine();
keepFocus(openWork());
keepForLater();
makeOwnImage();
rehearseFirstRun();

/** Open the program of a link in a new session, or continue the session of this tab. */
async function openWork() {
  const program = await arrivedProgram();
  if (!program) {
    await openSaved();
    if (isPhone.value && isUntouched()) store.side.value = "panels"; // where the gallery is
    return;
  }
  const opening = await beginOpening(linkId());
  await leaveSession();
  await openSaved();
  try {
    showProgram(program);
  } catch (failure) {
    opening.fail();
    throw failure;
  }
  await saveNow(); // until then, only the address has the program
  forgetAddress();
  opening.isOpen();
}

async function openSaved() {
  await loadExamples(openSession());
  recordLeftRun();
}

/** Whether nothing has been written or run yet. */
const isUntouched = () =>
  !store.edited.value && !store.fit.value && store.runState.value === "idle";
