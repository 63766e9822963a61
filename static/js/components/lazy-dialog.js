import { html, signal, useEffect } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/**
 * A dialog that is loaded when it is first opened. If that fails, it closes and the page says why.
 * @param {() => Promise<() => any>} load imports it
 * @param {() => boolean} isOpen
 * @param {() => void} close
 * @param {() => string} name in the language of the page, at the beginning of a sentence
 * @returns {() => any}
 */
export function lazyDialog(load, isOpen, close, name) {
  const loaded = signal(/** @type {(() => any) | null} */ (null));

  async function begin() {
    try {
      loaded.value = await load();
    } catch (failure) {
      const called = name(); // which may depend on what is open
      close();
      store.note(t().loading.failed(called, /** @type {Error} */ (failure).message));
    }
  }

  return function LazyDialog() {
    const isShown = isOpen();
    useEffect(() => {
      if (isShown && !loaded.value) begin();
    }, [isShown]);
    return isShown && loaded.value ? html`<${loaded.value} />` : null;
  };
}
