import { html } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { t } from "../words/locale.js";
import { refuse } from "../sharing/locks.js";

/** Marks a card whose lines are locked, and offers to unlock a copy. */
export function LockMark() {
  return html`<button type="button" class="button quiet icon-only lock-mark" data-testid="lock-mark" aria-label=${t().locks.held} title=${t().locks.held}
    onClick=${refuse}><${Icon} name="lock" /></button>`;
}
