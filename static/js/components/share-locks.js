import { html } from "../../vendor/preact.js";
import { selectedLines } from "../editor-access.js";
import { inWords } from "../line-locks.js";
import { lockLines, locksHere, unlockCopy, unlockLines } from "../locks.js";
import { Icon } from "./icons.js";

/** Locks the lines that are selected in the editor, and lists what is locked. */
export function LockedLines() {
  const { lines, isHeld } = locksHere.value;
  const selected = selectedLines();
  const isLocked = selected && lines.some(([from, to]) => from <= selected[0] && selected[1] <= to);
  return html`<fieldset class="share-locks" data-testid="share-locks">
    <legend>Lock lines</legend>
    ${isHeld
      ? html`<p class="hint">${inWords(lines)}: locked by the author of the link that was opened here. A link from here locks them, too.</p>
        <button type="button" class="button small" data-testid="share-unlock-copy" onClick=${unlockCopy}>Unlock a copy</button>`
      : html`<p class="hint">Whoever opens the link can change locked lines only after unlocking a copy: this guides a class, it is not a protection.</p>
        <ul class="share-lines">${lines.map((range) => html`<li key=${range.join()}>
          <${Icon} name="lock" />${inWords([range])}
          <button type="button" class="button quiet icon-only" data-testid="share-unlock" aria-label=${`Unlock ${inWords([range]).toLowerCase()}`}
            title="Unlock" onClick=${() => unlockLines(range)}><${Icon} name="close" /></button></li>`)}</ul>
        ${selected && !isLocked && html`<button type="button" class="button small" data-testid="share-lock"
          title="The lines that are selected in the code" onClick=${() => lockLines(selected)}>
          Lock ${inWords([selected]).toLowerCase()}</button>`}
        <p class="hint">Select other lines in the code to lock them.</p>`}
  </fieldset>`;
}
