import { lazyDialog } from "../components/lazy-dialog.js";
import { t } from "../words/locale.js";
import { closeDrawer, opening } from "./drawer-state.js";

/** The drawer for data of the visitor, loaded when it is first opened. */
export const LazyDataDrawer = lazyDialog(
  async () => (await import("./data-drawer.js")).DataDrawer,
  () => opening.value !== null,
  closeDrawer,
  () => t().loading.drawer,
);
