import { html } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { UnlockCopy, lockedInWords } from "../editor/unlock-copy.js";
import { loss } from "../words/format.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { hiddenTitles, showAll } from "./hidden.js";
import { forgetLink, verdict } from "./sharing.js";

/** Says that the program came with a link, and whether its run gives the same losses. */
export function SharedNote() {
  const shared = store.shared.value;
  return html`
    <div class="storage-place" role="status">
      ${
        shared &&
        html`
        <div class="storage-note shared-note" data-testid="shared-note">
          <p data-testid=${isDecided() ? "reproduced" : undefined} data-verdict=${verdict.value.kind}>${sentence(shared)}${
            lockedInWords() && html` <span data-testid="shared-locked">${lockedInWords()}</span>`
          }</p>
          <div class="storage-actions"><${UnlockCopy} /><${Actions} /></div>
        </div>
      `
      }
    </div>
  `;
}

/** Dismissing the note would show the hidden parts, so the button says so. */
function Actions() {
  const titles = hiddenTitles();
  if (titles.length > 0) {
    return html`<button type="button" class="button small" data-testid="shared-show-all" title=${t().share.hidden(titles)}
      onClick=${showAll}>${t().share.showAll}</button>`;
  }
  return html`<button type="button" class="button quiet icon-only" aria-label=${t().notes.dismiss} title=${t().notes.dismiss}
    data-testid="shared-dismiss" onClick=${forgetLink}><${Icon} name="close" /></button>`;
}

const isDecided = () => verdict.value.kind === "same" || verdict.value.kind === "differs";

/** @param {import("./link.js").Shared} shared */
function sentence({ code, expected }) {
  const outcome = verdict.value;
  const words = t().share;
  const device = expected?.device ?? "";
  switch (outcome.kind) {
    case "none":
      return store.executed.value.source === code ? words.noLosses : words.arrived;
    case "waiting":
      return words.arrivedWithLosses(device);
    case "changed":
      return words.changed;
    case "differs":
      return words.differs(outcome.step, loss(outcome.actual), loss(outcome.expected), device);
    case "same":
      return outcome.isComplete
        ? words.reproduced(expected?.steps ?? 0, accuracy(outcome.largest))
        : words.soFar(outcome.compared, expected?.losses.length ?? 0);
  }
}

/** @param {number} largest relative difference */
const accuracy = (largest) =>
  largest === 0 ? t().share.exactly : t().share.within((100 * largest).toPrecision(1));
