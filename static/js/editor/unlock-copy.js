import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { locksHere, unlockCopy } from "../sharing/locks.js";

/** Says that lines came locked with a link. */
export const lockedInWords = () => {
  const { lines, isHeld } = locksHere.value;
  return isHeld ? t().locks.byAuthor(lines) : "";
};

/** Makes all lines of the program the visitor's own. */
export function UnlockCopy() {
  return (
    locksHere.value.isHeld &&
    html`<button type="button" class="button small" data-testid="unlock-copy"
    title=${t().locks.unlockCopyAbout} onClick=${unlockCopy}>${t().locks.unlockCopy}</button>`
  );
}
