import { html } from "../../vendor/preact.js";
import { loadNow } from "../state/actions.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** Says which file does not arrive, and that it is tried again. */
export function LoadNote() {
  const problems = Object.values(store.loadProblems.value).filter(Boolean);
  return html`
    <div class="storage-place" role="alert">
      ${
        problems.length > 0 &&
        html`
        <div class="storage-note" data-testid="load-note">
          <p>${t().numbers.sentences(problems)}</p>
          <div class="storage-actions">
            <button type="button" class="button small" data-testid="load-now" onClick=${loadNow}>${t().notes.tryAgainNow}</button>
          </div>
        </div>
      `
      }
    </div>
  `;
}
