import { lazyDialog } from "../components/lazy-dialog.js";
import { t } from "../words/locale.js";
import { closeExamples, isOpen } from "./opening.js";

/** The gallery of all examples, loaded when it is first opened. */
export const LazyExamples = lazyDialog(
  async () => {
    const [{ ExamplesDialog }, { loadFacts }] = await Promise.all([
      import("./examples-dialog.js"),
      import("./facts.js"),
    ]);
    await loadFacts();
    return ExamplesDialog;
  },
  () => isOpen.value,
  closeExamples,
  () => t().gallery.all.title,
);
