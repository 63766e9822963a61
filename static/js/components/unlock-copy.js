import { html } from "../../vendor/preact.js";
import { inWords } from "../line-locks.js";
import { locksHere, unlockCopy } from "../locks.js";

/** Says that lines came locked with a link. */
export const lockedInWords = () => {
  const { lines, isHeld } = locksHere.value;
  return isHeld ? `${inWords(lines)} ${lines.length === 1 && lines[0][0] === lines[0][1] ? "is" : "are"} locked by its author.` : "";
};

/** Makes all lines of the program the visitor's own. */
export function UnlockCopy() {
  return locksHere.value.isHeld && html`<button type="button" class="button small" data-testid="unlock-copy"
    title="All lines can be changed then. The link stays as it is." onClick=${unlockCopy}>Unlock a copy</button>`;
}
