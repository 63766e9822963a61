/** Changes of the program from outside the editor, as the editor's own transactions. */

import { EditorView, redo, undo } from "../../vendor/codemirror.js";

/** @import { Change } from "../blocks/types.js" */

/** The page has one editor. @type {{view: EditorView | null}} */
const held = { view: null };

/** @param {EditorView | null} view null when it is destroyed */
export function holdEditor(view) {
  held.view = view;
}

/**
 * Change the text. Each call is one step of the editor's undo.
 * @param {Change[]} changes positions refer to the text before
 * @returns {boolean} whether the text changed
 */
export function changeText(changes) {
  const { view } = held;
  if (!view || view.state.readOnly || changes.length === 0) return false;
  const before = view.state.doc;
  view.dispatch({ changes, userEvent: "input.block" });
  return view.state.doc !== before; // lines may be locked
}

/** The lines of the selection. @returns {import("./line-locks.js").LineRange | null} */
export function selectedLines() {
  const { view } = held;
  if (!view || view.state.readOnly) return null;
  const {
    doc,
    selection: { main },
  } = view.state;
  const last = doc.lineAt(main.to);
  // A selection of whole lines ends at the beginning of the next.
  const isBefore = !main.empty && last.from === main.to;
  return [doc.lineAt(main.from).number, last.number - (isBefore ? 1 : 0)];
}

/** Type a text at the cursor. @param {string} text */
export function insertText(text) {
  const { view } = held;
  if (!view || view.state.readOnly) return;
  view.dispatch(view.state.replaceSelection(text), {
    userEvent: "input.type",
    scrollIntoView: true,
  });
  view.focus();
}

/** @param {(view: EditorView) => void} act does something with the editor, if its text can be changed */
export function inEditor(act) {
  const { view } = held;
  if (view && !view.state.readOnly) act(view);
}

/** Undo or redo the last step of the editor. @param {boolean} forwards */
export function stepHistory(forwards) {
  return held.view !== null && (forwards ? redo : undo)(held.view);
}

/** Have the editor measure itself, after it was hidden. @param {boolean} toCursor whether to scroll to the cursor, too */
export function refreshEditor(toCursor) {
  const { view } = held;
  if (!view) return;
  view.requestMeasure();
  if (!toCursor) return;
  view.dispatch({
    effects: EditorView.scrollIntoView(view.state.selection.main, { y: "nearest", yMargin: 40 }),
  });
}
