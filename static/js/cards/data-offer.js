import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { announcement, change, chosenData } from "./blocks-model.js";

/** @import { Suited } from "../blocks/suited.js" */

/** Note that a data set was chosen. @param {string} name */
export const choseData = (name) => (chosenData.value = { example: store.exampleId.peek(), name });

/** Whether it is asked about a data set. @param {string} name */
export const asksAbout = (name) =>
  chosenData.value?.name === name && chosenData.value.example === store.exampleId.value;

/**
 * Asks whether to take the settings that suit the data that was chosen.
 * @param {{suited: Suited, question: string, take: string, taken: string, field: string}} props `field`: id of the one that was changed
 */
export function DataOffer({ suited, question, take, taken, field }) {
  /** @param {boolean} isTaken */
  const answer = (isTaken) => {
    chosenData.value = null;
    if (isTaken) change(suited.changes, taken);
    else announcement.value = t().suited.kept;
    document.getElementById(field)?.focus();
  };
  return html`<div class="block-offer" role="group" aria-labelledby=${`${field}-offer`} data-testid="data-offer">
    <p id=${`${field}-offer`} role="status">${question}</p>
    <button type="button" class="button small" data-testid="data-offer-take" onClick=${() => answer(true)}>${take}</button>
    <button type="button" class="button quiet small" data-testid="data-offer-keep" onClick=${() => answer(false)}>${t().suited.keep}</button>
  </div>`;
}
