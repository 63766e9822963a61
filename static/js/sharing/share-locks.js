import { html } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { selectedLines } from "../editor/editor-access.js";
import { t } from "../words/locale.js";
import { lockLines, locksHere, unlockCopy, unlockLines } from "./locks.js";

/** Locks the lines that are selected in the editor, and lists the locks. */
export function LockedLines() {
  const { lines, isHeld } = locksHere.value;
  const selected = selectedLines();
  const isLocked = selected && lines.some(([from, to]) => from <= selected[0] && selected[1] <= to);
  const words = t().locks;
  return html`<fieldset class="share-locks" data-testid="share-locks">
    <legend>${words.title}</legend>
    ${
      isHeld
        ? html`<p class="hint">${words.arrived(lines)}</p>
        <button type="button" class="button small" data-testid="share-unlock-copy" onClick=${unlockCopy}>${words.unlockCopy}</button>`
        : html`<p class="hint">${words.about}</p>
        <ul class="share-lines">${lines.map(
          (range) => html`<li key=${range.join()}>
          <${Icon} name="lock" />${words.lines([range])}
          <button type="button" class="button quiet icon-only" data-testid="share-unlock" aria-label=${words.unlockLines(range)}
            title=${words.unlock} onClick=${() => unlockLines(range)}><${Icon} name="close" /></button></li>`,
        )}</ul>
        ${
          selected &&
          !isLocked &&
          html`<button type="button" class="button small" data-testid="share-lock"
          title=${words.selected} onClick=${() => lockLines(selected)}>${words.lockLines(selected)}</button>`
        }
        <p class="hint">${words.select}</p>`
    }
  </fieldset>`;
}
