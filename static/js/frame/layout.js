/** The forms of the page, by the width of the window. */

import { signal } from "../../vendor/preact.js";

/** @param {string} query @returns {import("../../vendor/preact.js").Signal<boolean>} follows a media query */
function follows(query) {
  const media = matchMedia(query);
  const state = signal(media.matches);
  media.addEventListener("change", ({ matches }) => (state.value = matches));
  return state;
}

/** One column, and a bar of tabs below it. */
export const isPhone = follows("(max-width: 699px)");
/** Room for the graph beside the tabs. */
export const isWide = follows("(min-width: 1800px) and (min-height: 561px)");
