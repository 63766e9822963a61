import { html } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { loadProjects } from "./lazy-projects.js";

/** Says that the page started without a session with which it could not be opened, and offers that session. */
export function UnopenedNote() {
  const id = store.unopened.value;
  const words = t().sessions.unopened;
  async function save() {
    try {
      const { saveSession } = await import("./save-unopened.js");
      await saveSession(/** @type {string} */ (id));
    } catch (failure) {
      store.projectProblem.value = /** @type {Error} */ (failure).message;
    }
  }
  const again = async () => (await loadProjects()).openProject(/** @type {string} */ (id));
  return html`
    <div class="storage-place" role="status">
      ${
        id &&
        html`
        <div class="storage-note" data-testid="unopened-note">
          <p>${words.about}</p>
          ${store.projectProblem.value && html`<p class="hint" data-failed>${store.projectProblem.value}</p>`}
          <div class="storage-actions">
            <button type="button" class="button small" data-testid="unopened-save" onClick=${save}>
              <${Icon} name="save" />${words.save}</button>
            <button type="button" class="button small" data-testid="unopened-again" onClick=${again}>${words.again}</button>
            <button type="button" class="button quiet icon-only" aria-label=${t().notes.dismiss} title=${t().notes.dismiss}
              data-testid="unopened-dismiss" onClick=${() => (store.unopened.value = null)}><${Icon} name="close" /></button>
          </div>
        </div>
      `
      }
    </div>
  `;
}
