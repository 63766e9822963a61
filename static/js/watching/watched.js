/** A training that runs elsewhere, which this page shows and cannot change. */

import { computed, signal } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";

export const WATCH = urlOf("/watch");

/** Whether this is the page that shows one. */
export const isWatching = globalThis.location?.pathname === new URL(WATCH).pathname;

/** @typedef {"connecting" | "live" | "lost" | "refused" | "ended"} LinkState */

/** The connection to the training, as the page's own server tells; `reason`: of its end, in English. */
export const told = signal({
  state: /** @type {LinkState} */ ("connecting"),
  address: "",
  reason: "",
});

/** Whether that server does not answer. */
export const isAway = signal(false);

/** The connection from the page to the training. */
export const link = computed(() => ({
  ...told.value,
  state: isAway.value ? /** @type {const} */ ("away") : told.value.state,
}));

/** The machine of the training. */
export const host = signal("");
