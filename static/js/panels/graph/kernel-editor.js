/** The editor of the kernel bench: WGSL with line numbers, and marks for the compiler's errors. */

import {
  EditorState,
  EditorView,
  bracketMatching,
  defaultKeymap,
  drawSelection,
  history,
  historyKeymap,
  indentWithTab,
  keymap,
  lineNumbers,
  setDiagnostics,
} from "../../../vendor/codemirror.js";

const look = EditorView.theme({
  "&": {
    maxHeight: "420px",
    fontSize: "12px",
    backgroundColor: "var(--sunken)",
    color: "var(--text)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.45" },
  ".cm-content": { caretColor: "var(--accent)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--faint)", border: "0" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--edge)",
  },
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    { background: "var(--selection)" },
});

/**
 * @param {Element} parent @param {string} text @param {string} label its accessible name
 * @param {(text: string) => void} onChange
 */
export function createKernelEditor(parent, text, label, onChange) {
  const extensions = [
    lineNumbers(),
    history(),
    drawSelection(),
    bracketMatching(),
    look,
    // Tab leaves the editor after Escape, as in the editor of the program.
    keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
    EditorView.updateListener.of(
      (update) => update.docChanged && onChange(update.state.doc.toString()),
    ),
  ];
  return new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
}

/** Replace the text. @param {EditorView} view @param {string} text */
export const setText = (view, text) =>
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });

/** Mark a line with an error, or none. @param {EditorView} view @param {number | null} line from 1 @param {string} message */
export function markLine(view, line, message) {
  const { doc } = view.state;
  const place = line !== null && line <= doc.lines ? doc.line(line) : null;
  const marks = place
    ? [{ from: place.from, to: place.to, severity: /** @type {const} */ ("error"), message }]
    : [];
  view.dispatch(setDiagnostics(view.state, marks));
  if (place) view.dispatch({ selection: { anchor: place.from }, scrollIntoView: true });
}
