/** The language of an editor: its own phrases, and other texts. */

import { Compartment, EditorState, ViewPlugin } from "../../vendor/codemirror.js";
import { language, t } from "../words/locale.js";

/** @import { Extension, ViewUpdate } from "../../vendor/codemirror.js" */

/**
 * Extensions with texts in them, which are made again when the language of the page changes.
 * @param {() => Extension} make
 * @returns {Extension}
 */
export function inLanguage(make) {
  const place = new Compartment();
  const shown = { language: language.peek() };
  const present = () => [EditorState.phrases.of(t().codeHelp.phrases), make()];
  const follow = ViewPlugin.define((view) => ({
    destroy: language.subscribe((now) => {
      if (now === shown.language) return;
      shown.language = now;
      view.dispatch({ effects: place.reconfigure(present()) });
    }),
  }));
  return [place.of(present()), follow];
}

/** Whether the language has changed. @param {ViewUpdate} update */
export const changesLanguage = ({ startState, state }) =>
  startState.facet(EditorState.phrases) !== state.facet(EditorState.phrases);
