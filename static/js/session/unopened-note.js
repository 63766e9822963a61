import { html } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { t } from "../locale.js";
import * as store from "../store.js";
import { goTo } from "./session.js";

/** Says that the page started without a session with which it did not come up, and offers that session. */
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
  return html`
    <div class="storage-place" role="status">
      ${
        id &&
        html`
        <div class="storage-note" data-testid="unopened-note">
          <p>${words.about}</p>
          <div class="storage-actions">
            <button type="button" class="button small" data-testid="unopened-save" onClick=${save}>
              <${Icon} name="save" />${words.save}</button>
            <button type="button" class="button small" data-testid="unopened-again" onClick=${() => goTo(id)}>${words.again}</button>
            <button type="button" class="button quiet icon-only" aria-label=${t().notes.dismiss} title=${t().notes.dismiss}
              data-testid="unopened-dismiss" onClick=${() => (store.unopened.value = null)}><${Icon} name="close" /></button>
          </div>
        </div>
      `
      }
    </div>
  `;
}
