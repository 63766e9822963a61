/** The input line of the prompt: keys, completion and look. */

import {
  EditorState,
  EditorView,
  Prec,
  autocompletion,
  bracketMatching,
  completionStatus,
  defaultKeymap,
  drawSelection,
  history,
  historyKeymap,
  indentUnit,
  insertNewlineAndIndent,
  keymap,
  placeholder,
  python,
  pythonLanguage,
  selectedCompletion,
  startCompletion,
  syntaxHighlighting,
} from "../../vendor/codemirror.js";
import { completeNames } from "../state/actions.js";
import { acceptFirst, completion } from "../editor/editor-completion.js";
import { inLanguage } from "../editor/editor-language.js";
import { colours } from "../editor/editor-setup.js";
import { suggest } from "../language/completing.js";
import { library } from "../language/library.js";
import { Program } from "../language/program.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/**
 * @import { Completion, CompletionContext, CompletionResult } from "../../vendor/codemirror.js"
 * @typedef {{submit: (code: string) => void, interrupt: () => boolean, earlier: (shown: string, direction: -1 | 1) => string | null}} Use
 *   `interrupt`: returns whether there was something to interrupt
 */

/** How long Python may take to list the program's names; it is busy while it compiles. */
const NAMES_MS = 700;

const look = EditorView.theme({
  "&": {
    flex: "1",
    minWidth: "0",
    maxHeight: "9.6em",
    fontSize: "12.5px",
    backgroundColor: "transparent",
    color: "var(--text)",
  },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { padding: "6px 0", caretColor: "var(--accent)" },
  ".cm-line": { padding: "0 4px" },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--edge)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    { background: "var(--selection)" },
});

/** @param {Element} parent @param {Use} use */
export function createPrompt(parent, use) {
  return new EditorView({ parent, state: EditorState.create({ extensions: extensions(use) }) });
}

/** Replace the code. @param {EditorView} view @param {string} code */
export function setCode(view, code) {
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: code },
    selection: { anchor: code.length },
    scrollIntoView: true,
  });
}

/** @param {Use} use */
function extensions({ submit, interrupt, earlier }) {
  /** @param {EditorView} view */
  function enter(view) {
    if (completionStatus(view.state) === "active" && selectedCompletion(view.state))
      return acceptFirst(view);
    const code = view.state.doc.toString();
    if (/:\s*$/.test(code)) return insertNewlineAndIndent(view); // of a block, whose lines follow
    if (code.trim() !== "") submit(code);
    return true;
  }

  /** @param {-1 | 1} direction */
  const recall = (direction) => (/** @type {EditorView} */ view) => {
    if (completionStatus(view.state) === "active") return false;
    const line = view.state.doc.lineAt(view.state.selection.main.head).number;
    if (line !== (direction < 0 ? 1 : view.state.doc.lines)) return false;
    const code = earlier(view.state.doc.toString(), direction);
    if (code !== null) setCode(view, code);
    return true;
  };

  /** Ctrl+C copies the selection, as everywhere. @param {EditorView} view */
  const cancel = (view) => view.state.selection.main.empty && interrupt();
  /** Elsewhere Tab moves to the next control. @param {EditorView} view */
  const tab = (view) => acceptFirst(view) || (/[\w.]$/.test(before(view)) && startCompletion(view));

  return [
    Prec.highest(
      keymap.of([
        { key: "Enter", run: enter },
        { key: "Shift-Enter", run: insertNewlineAndIndent },
        { key: "Tab", run: tab },
        { key: "Ctrl-c", run: cancel },
      ]),
    ),
    Prec.high(
      keymap.of([
        { key: "ArrowUp", run: recall(-1) },
        { key: "ArrowDown", run: recall(1) },
      ]),
    ),
    history(),
    drawSelection(),
    indentUnit.of("    "),
    bracketMatching(),
    python(),
    autocompletion({ override: [complete], selectOnOpen: false, maxRenderedOptions: 60 }),
    syntaxHighlighting(colours),
    EditorView.lineWrapping,
    look,
    inLanguage(() => [
      placeholder(t().prompt.hint),
      EditorView.contentAttributes.of({ "aria-label": t().prompt.label }),
    ]),
    EditorView.contentAttributes.of({
      "data-testid": "prompt",
      spellcheck: "false",
      autocorrect: "off",
      autocapitalize: "off",
    }),
    keymap.of([...defaultKeymap, ...historyKeymap]),
  ];
}

/** The line up to the cursor. @param {EditorView} view */
function before(view) {
  const { head } = view.state.selection.main;
  return view.state.sliceDoc(view.state.doc.lineAt(head).from, head);
}

/** Names of the program and of the library. @param {CompletionContext} context @returns {Promise<CompletionResult | null>} */
async function complete(context) {
  const word = context.matchBefore(/[\w.]+$/);
  if (!word && !context.explicit) return null;
  const line = context.state.doc.lineAt(context.pos);
  const text = line.text.slice(0, context.pos - line.from);
  const from = context.pos - (/\w*$/.exec(text)?.[0].length ?? 0);
  const known = fromLibrary(context);
  const names = /\w/.test(text) || context.explicit ? await fromProgram(text) : [];
  const labels = new Set(known.map(({ label }) => label));
  const options = [...known, ...names.filter(({ label }) => !labels.has(label))];
  return options.length > 0 ? { from, options, validFor: /^\w*$/ } : null;
}

/** @param {string} text @returns {Promise<Completion[]>} */
async function fromProgram(text) {
  if (!store.hasNamespace.value || store.promptBusy.value) return [];
  /** @type {Promise<Completion[]>} */
  const overdue = new Promise((resolve) => setTimeout(() => resolve([]), NAMES_MS));
  return await Promise.race([completeNames(text).catch(() => []), overdue]);
}

/** What the editor would suggest below the program. @param {CompletionContext} context @returns {Completion[]} */
function fromLibrary({ state, pos }) {
  const known = library.peek();
  if (!known) return [];
  const start = `${store.executed.value.source}\n`;
  const code = start + state.doc.toString();
  const program = new Program(
    code,
    pythonLanguage.parser.parse(code),
    known.names,
    known.translator,
  );
  return suggest(program, start.length + pos)?.options.map(completion) ?? [];
}
