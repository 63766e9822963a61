import { lazyDialog } from "../components/lazy-dialog.js";
import { t } from "../words/locale.js";
import { close, subject } from "./trials.js";

/** The dialog in which several values are tried, loaded when it is first opened. */
export const LazyTrials = lazyDialog(
  async () => (await import("./trials-dialog.js")).TrialsDialog,
  () => subject.value !== null,
  close,
  () => t().trials.title(subject.value?.label ?? ""),
);
