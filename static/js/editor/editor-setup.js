/** The look and keys of the editor. */

import {
  EditorState,
  EditorView,
  HighlightStyle,
  bracketMatching,
  defaultKeymap,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSelectionMatches,
  history,
  historyKeymap,
  indentOnInput,
  indentUnit,
  indentWithTab,
  keymap,
  lineNumbers,
  python,
  searchKeymap,
  syntaxHighlighting,
  tags,
} from "../../vendor/codemirror.js";
import { t } from "../words/locale.js";
import { bridge } from "./editor-bridge.js";
import { completions } from "./editor-completion.js";
import { explanations } from "./editor-hints.js";
import { inLanguage } from "./editor-language.js";
import { leaving } from "./editor-leaving.js";
import { marks } from "./editor-marks.js";

/** Colours are custom properties of the page, so that one definition serves both themes. */
export const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName)],
    color: "var(--code-function)",
  },
  { tag: [tags.className, tags.typeName], color: "var(--code-function)" },
  { tag: [tags.definition(tags.variableName)], color: "var(--text)" },
  { tag: [tags.operator, tags.punctuation], color: "var(--muted)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", backgroundColor: "transparent", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--accent)" },
  ".cm-line": { padding: "0 12px 0 6px" },
  ".cm-gutters": {
    // Opaque: long lines scroll behind it.
    backgroundColor: "var(--surface)",
    border: "none",
    color: "var(--faint)",
    userSelect: "none",
  },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 6px 0 2px", minWidth: "22px" },
  ".cm-activeLine": { backgroundColor: "var(--line-active)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    { background: "var(--selection)" },
  ".cm-selectionMatch": { backgroundColor: "var(--line-active)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selection)", outline: "none" },
  ".cm-error-gutter": { width: "14px" },
  ".cm-error-gutter .cm-gutterElement": { color: "var(--danger)", textAlign: "center" },
  ".cm-error-line": {
    backgroundColor: "var(--danger-soft)",
    boxShadow: "inset 2px 0 var(--danger)",
  },
  ".cm-linked-line": {
    backgroundColor: "var(--accent-soft)",
    boxShadow: "inset 2px 0 var(--accent)",
  },
  ".cm-panels, .cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--edge)",
  },
  ".cm-panel.cm-search": {
    padding: "6px 28px 6px 8px",
    fontFamily: "var(--sans)",
    fontSize: "12.5px",
  },
  ".cm-panel.cm-search label": {
    display: "inline-flex",
    alignItems: "center",
    gap: "4px",
    fontSize: "12.5px",
  },
  ".cm-textfield": {
    fontSize: "12.5px",
    padding: "3px 8px",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
    background: "var(--sunken)",
    color: "var(--text)",
  },
  ".cm-button": {
    fontSize: "12.5px",
    padding: "3px 9px",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
    background: "var(--surface)",
    color: "var(--text)",
  },
  ".cm-panel.cm-search [name=close]": {
    top: "6px",
    right: "8px",
    color: "var(--muted)",
    cursor: "pointer",
  },
  ".cm-searchMatch": { backgroundColor: "var(--warning-soft)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
});

/** @param {(code: string) => void} onEdit is called after every change */
export function extensions(onEdit) {
  return [
    marks,
    lineNumbers(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    indentUnit.of("    "),
    indentOnInput(),
    bracketMatching(),
    python(),
    completions,
    bridge,
    explanations,
    leaving,
    syntaxHighlighting(colours),
    look,
    EditorState.tabSize.of(4),
    inLanguage(() => EditorView.contentAttributes.of({ "aria-label": t().codeHelp.label })),
    EditorView.contentAttributes.of({
      tabindex: "0", // for tools that do not know that text which can be edited takes the focus
      spellcheck: "false",
      autocorrect: "off",
      autocapitalize: "off",
    }),
    keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap, ...searchKeymap]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onEdit(update.state.doc.toString());
    }),
  ];
}
