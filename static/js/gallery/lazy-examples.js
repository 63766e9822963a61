import { html, signal, useEffect } from "../../vendor/preact.js";
import { t } from "../locale.js";
import * as store from "../store.js";
import { closeExamples, isOpen } from "./opening.js";

/** The dialog, once it has been loaded. @type {import("../../vendor/preact.js").Signal<(() => any) | null>} */
const dialog = signal(null);

async function loadDialog() {
  try {
    const [{ ExamplesDialog }, { loadFacts }] = await Promise.all([import("./examples-dialog.js"), import("./facts.js")]);
    await loadFacts();
    dialog.value = ExamplesDialog;
  } catch (failure) {
    closeExamples();
    store.note(t().loading.failed(t().gallery.all.title, /** @type {Error} */ (failure).message));
  }
}

/** The gallery of all examples, loaded when it is first opened. */
export function LazyExamples() {
  useEffect(() => {
    if (isOpen.value && !dialog.value) loadDialog();
  }, [isOpen.value]);
  return isOpen.value && dialog.value ? html`<${dialog.value} />` : null;
}
