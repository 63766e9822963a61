import { html, signal, useEffect } from "../../vendor/preact.js";
import { t } from "../locale.js";
import * as store from "../store.js";
import { closeDrawer, opening } from "./drawer-state.js";

/** The drawer, once it has been loaded. @type {import("../../vendor/preact.js").Signal<(() => any) | null>} */
const drawer = signal(null);

async function loadDrawer() {
  try {
    const { DataDrawer } = await import("./data-drawer.js");
    drawer.value = DataDrawer;
  } catch (failure) {
    closeDrawer();
    store.note(t().loading.failed(t().loading.drawer, /** @type {Error} */ (failure).message));
  }
}

/** The drawer for data of the visitor, loaded when it is first opened. */
export function LazyDataDrawer() {
  const isOpen = opening.value !== null;
  useEffect(() => {
    if (isOpen && !drawer.value) loadDrawer();
  }, [isOpen]);
  return isOpen && drawer.value ? html`<${drawer.value} />` : null;
}
