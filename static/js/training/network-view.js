/** The side of the left panel that is open: blocks or code. Both are shown where there is room. */

import { signal } from "../../vendor/preact.js";
import { recall, remember } from "../state/storage.js";

const CHOICE = "network-view";

export const networkView = signal(
  /** @type {"blocks" | "code"} */ (recall(CHOICE) === "blocks" ? "blocks" : "code"),
);

/** @param {"blocks" | "code"} view */
export function showNetworkView(view) {
  networkView.value = view;
  remember(CHOICE, view === "code" ? null : view);
}
