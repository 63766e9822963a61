import { html } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { saveCode } from "../gallery/examples.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { saveAgain } from "./session.js";

/** Reports a failure to save, and offers a remedy. */
export function StorageNote() {
  const problem = store.storageProblem.value;
  const hasCode = problem?.what === "code" || problem?.what === "everything";
  return html`
    <div class="storage-place" role="alert">
      ${
        problem &&
        html`
        <div class="storage-note" data-testid="storage-note" data-what=${problem.what}>
          <p>${problem.text}</p>
          <div class="storage-actions">
            ${
              hasCode &&
              html`<button type="button" class="button small" onClick=${saveCode}>
              <${Icon} name="save" />${t().notes.saveCode}</button>`
            }
            <button type="button" class="button small" data-testid="save-again" onClick=${saveAgain}>${t().notes.tryAgain}</button>
          </div>
        </div>
      `
      }
    </div>
  `;
}
