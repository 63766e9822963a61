import { html } from "../../vendor/preact.js";
import { loss } from "../format.js";
import { hiddenTitles, showAll } from "../hidden.js";
import { forgetLink, verdict } from "../sharing.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";

/** Says that the program came with a link, and whether its run gives the same losses. */
export function SharedNote() {
  const shared = store.shared.value;
  return html`
    <div class="storage-place" role="status">
      ${shared && html`
        <div class="storage-note shared-note" data-testid="shared-note">
          <p data-testid=${isDecided() ? "reproduced" : undefined} data-verdict=${verdict.value.kind}>${sentence(shared)}</p>
          <div class="storage-actions"><${Actions} /></div>
        </div>
      `}
    </div>
  `;
}

/** Dismissing the note would show what is hidden, so it is offered by its name. */
function Actions() {
  const titles = hiddenTitles();
  if (titles.length > 0) {
    return html`<button type="button" class="button small" data-testid="shared-show-all" title=${`Hidden: ${titles.join(", ")}`}
      onClick=${showAll}>Show the whole page</button>`;
  }
  return html`<button type="button" class="button quiet icon-only" aria-label="Dismiss" title="Dismiss"
    data-testid="shared-dismiss" onClick=${forgetLink}><${Icon} name="close" /></button>`;
}

const isDecided = () => verdict.value.kind === "same" || verdict.value.kind === "differs";

/** @param {import("../link.js").Shared} shared */
function sentence({ code, expected }) {
  const outcome = verdict.value;
  switch (outcome.kind) {
    case "none":
      if (store.executed.value.source === code) return "This program came with a link, without losses to compare.";
      return "This program came with a link. Read it, then press Run: it runs in this page only.";
    case "waiting":
      return `This program came with a link, with the losses of a run on ${expected?.device}. Read it, then press Run: it runs `
        + "in this page only.";
    case "changed":
      return "The code is no longer that of the link, so its losses are not compared.";
    case "differs":
      return `The loss differs from the link's from step ${outcome.step} on: ${loss(outcome.actual)} here, ${loss(outcome.expected)} `
        + `there, on ${expected?.device}.`;
    case "same":
      return outcome.isComplete
        ? `Reproduced: the losses of ${expected?.steps} steps are those of the link, ${accuracy(outcome.largest)}.`
        : `The same as in the link up to here: ${outcome.compared} of ${expected?.losses.length} losses compared.`;
  }
}

/** @param {number} largest relative difference */
const accuracy = (largest) => (largest === 0 ? "to the last digit" : `to within ${(100 * largest).toPrecision(1)}%`);
