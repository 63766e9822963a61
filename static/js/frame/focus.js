/** Keeps the focus and the cursor of the code while the visitor leaves the page and comes back. */

import { EditorView } from "../../vendor/codemirror.js";
import { recallInTab, rememberInTab } from "../state/storage.js";

const KEY = "focus";

/** @param {Promise<void>} opened resolves when the page is restored */
export async function keepFocus(opened) {
  window.addEventListener("pagehide", () => rememberInTab(KEY, JSON.stringify(present())));
  await opened;
  const saved = recallInTab(KEY);
  // A visitor who has clicked meanwhile knows better.
  if (saved && document.activeElement === document.body) restore(saved);
}

/** @returns {{testId: string, cursor: number | null}} */
function present() {
  const view = editor();
  const element = /** @type {HTMLElement | null} */ (document.activeElement);
  return {
    testId: view?.hasFocus ? "" : (element?.dataset.testid ?? ""),
    cursor: view?.hasFocus ? view.state.selection.main.head : null,
  };
}

/** @param {string} saved */
function restore(saved) {
  const { testId, cursor } = JSON.parse(saved);
  if (testId)
    /** @type {HTMLElement | null} */ (
      document.querySelector(`[data-testid="${CSS.escape(testId)}"]`)
    )?.focus();
  const view = editor();
  if (cursor === null || !view) return;
  view.dispatch({
    selection: { anchor: Math.min(cursor, view.state.doc.length) },
    scrollIntoView: true,
  });
  view.focus();
}

function editor() {
  const element = /** @type {HTMLElement | null} */ (document.querySelector(".cm-editor"));
  return element && EditorView.findFromDOM(element);
}
