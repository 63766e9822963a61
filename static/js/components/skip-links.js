import { html } from "../../vendor/preact.js";
import { isPhone } from "../frame/layout.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** @type {{place: string, side: "build" | "panels"}[]} */
const PLACES = [
  { place: ".column.write", side: "build" },
  { place: ".column.watch", side: "panels" },
];

/**
 * For the keyboard: past the header and the commands. They are buttons, because the fragment of the
 * page's address may contain a program.
 */
export function SkipLinks() {
  /** @param {typeof PLACES[number]} place */
  const skip =
    ({ place, side }) =>
    () => {
      if (isPhone.value) store.side.value = side;
      setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector(place))?.focus()); // once it is shown
    };
  return html`<nav class="skip-links" aria-label=${t().panels.skip}>
    ${PLACES.map(
      (
        place,
      ) => html`<button key=${place.side} type="button" class="button" data-testid=${`skip-to-${place.side}`}
      onClick=${skip(place)}>${t().panels.skipTo[place.side]}</button>`,
    )}
  </nav>`;
}
