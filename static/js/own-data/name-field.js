/** The field for the name under which something is kept. */

import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";

/**
 * @param {{name: string, wrong: string, hint: string, onName: (name: string) => void}} props
 *   `wrong`: why the name cannot be taken, or ""; `hint`: what is said of one that can
 */
export function NameField({ name, wrong, hint, onName }) {
  return html`
    <div class="data-fields">
      <label class="data-field"><span>${t().data.names.label}</span>
        <input class="data-name" data-testid="data-name" value=${name} autocomplete="off" spellcheck="false" aria-invalid=${wrong !== ""}
          onInput=${(/** @type {any} */ event) => onName(event.target.value)} /></label>
    </div>
    <p class="hint" role="status">${wrong || hint}</p>`;
}
