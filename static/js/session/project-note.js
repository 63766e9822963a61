import { html } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** Reports a failed action on a project. */
export function ProjectNote() {
  const problem = store.projectProblem.value;
  return html`
    <div class="storage-place" role="alert">
      ${
        problem &&
        html`
        <div class="storage-note" data-testid="project-problem">
          <p>${problem}</p>
          <div class="storage-actions">
            <button type="button" class="button quiet icon-only" aria-label=${t().notes.dismiss} title=${t().notes.dismiss}
              onClick=${() => (store.projectProblem.value = "")}><${Icon} name="close" /></button>
          </div>
        </div>
      `
      }
    </div>
  `;
}
