import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { link } from "./watched.js";

/** Says why nothing new is shown. */
export function LinkNote() {
  const { state, reason, address } = link.value;
  const { notes, reasons } = t().watching;
  const sentence = state === "live" ? "" : notes[state](address, reasons[reason] ?? reason);
  return html`
    <div class="storage-place" role="status">
      ${
        sentence &&
        html`<div class="storage-note link-note" data-state=${state} data-testid="link-note"><p>${sentence}</p></div>`
      }
    </div>
  `;
}
