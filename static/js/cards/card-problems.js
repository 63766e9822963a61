import { html } from "../../vendor/preact.js";
import { language } from "../words/locale.js";
import { makeMend, problems } from "./blocks-model.js";

/** @import { Problem } from "../blocks/types.js" */

/** Where the sentence about a field stands, for the field. @param {Problem | undefined} problem */
const placeOf = (problem) => problem && `${problem.card}-${problem.parameter ?? ""}-wrong`;

/** The problems of a card. @param {string} card */
export const problemsAt = (card) => problems.value.filter((each) => each.card === card);

/** The id of the sentence that says what is wrong with a field; undefined if nothing is. @param {string} id of the field */
export const wrongField = (id) =>
  placeOf(problems.value.find(({ card, parameter }) => parameter && `${card}-${parameter}` === id));

/** What is wrong with a card, with buttons that mend it. @param {{card: string}} props */
export function CardProblems({ card }) {
  void language.value;
  return problemsAt(card).map(
    (
      problem,
    ) => html`<div key=${problem.words} id=${placeOf(problem)} class="block-problem" role="alert"
      data-testid="card-problem" data-ran=${problem.ran ? "" : undefined}>
      <p>${problem.words}</p>
      ${problem.mends.map(
        (
          mend,
        ) => html`<button key=${mend.words} type="button" class="button small" data-testid="card-mend"
          onClick=${() => makeMend(problem, mend)}>${mend.words}</button>`,
      )}
    </div>`,
  );
}
