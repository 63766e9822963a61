/** A training that runs elsewhere, which this page shows and cannot change. */

import { signal } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";

export const WATCH = urlOf("/watch");

/** Whether this is the page that shows one. */
export const isWatching = globalThis.location?.pathname === new URL(WATCH).pathname;

/**
 * @typedef {"connecting" | "live" | "lost" | "refused" | "ended" | "away"} LinkState
 *   "away": the page's own server does not answer
 */

/** The connection to the training; `reason`: of its end, in English. */
export const link = signal({
  state: /** @type {LinkState} */ ("connecting"),
  address: "",
  reason: "",
});

/** The machine of the training. */
export const host = signal("");
