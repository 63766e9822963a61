/** The time that an example takes, as a person would say it. */

import { t } from "../words/locale.js";

/** @param {number} seconds measured @returns {string} "about 20 s" */
export function roughly(seconds) {
  const { aboutSeconds, aboutMinutes } = t().gallery;
  if (seconds >= 50) return aboutMinutes(Math.max(1, Math.round(seconds / 60)));
  if (seconds < 10) return aboutSeconds(Math.max(1, Math.round(seconds)));
  return aboutSeconds(5 * Math.round(seconds / 5));
}
