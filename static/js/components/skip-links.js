import { html } from "../../vendor/preact.js";
import { isPhone } from "../layout.js";
import * as store from "../store.js";

/** @type {{title: string, place: string, side: "build" | "panels"}[]} */
const PLACES = [
  { title: "Skip to the network", place: ".column.write", side: "build" },
  { title: "Skip to what it does", place: ".column.watch", side: "panels" },
];

/**
 * For the keyboard: past the header and the commands. They are buttons, because the fragment of the
 * page's address may contain a program.
 */
export function SkipLinks() {
  /** @param {typeof PLACES[number]} place */
  const skip = ({ place, side }) => () => {
    if (isPhone.value) store.side.value = side;
    setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector(place))?.focus()); // once it is shown
  };
  return html`<nav class="skip-links" aria-label="Skip">
    ${PLACES.map((place) => html`<button key=${place.side} type="button" class="button" data-testid=${`skip-to-${place.side}`}
      onClick=${skip(place)}>${place.title}</button>`)}
  </nav>`;
}
