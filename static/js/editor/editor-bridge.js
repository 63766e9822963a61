/** Marks names of other libraries in the editor, and offers playgrad's in their place. */

import {
  ChangeSet,
  forEachDiagnostic,
  keymap,
  lintKeymap,
  linter,
  nextDiagnostic,
  pythonLanguage,
} from "../../vendor/codemirror.js";
import { signal } from "../../vendor/preact.js";
import { findProblems, translate } from "../language/bridging.js";
import { arrived, library } from "../language/library.js";
import { language, t } from "../words/locale.js";
import { inEditor } from "./editor-access.js";
import { programOf } from "./editor-completion.js";
import { changesLanguage } from "./editor-language.js";

/**
 * @import { Diagnostic, EditorState, EditorView } from "../../vendor/codemirror.js"
 * @import { Problem } from "../language/bridging.js"
 */

/** The lines with names of other libraries, if the program has any that can be fixed. */
export const bridgedLines = signal(/** @type {ReadonlySet<number>} */ (new Set()));

/** What fixes leave to the reader, by line. */
export const leftProblems = signal(/** @type {{line: number, messages: string[]}[]} */ ([]));
/** Whether it is listed: from the moment when all fixes have been made until the list is closed. */
export const isListed = signal(false);

/** Milliseconds without typing before the program is checked. */
const PAUSE_MS = 400;

/** Problems of programs that have been checked, in a language. @type {WeakMap<import("../language/program.js").Program, {said: string, problems: Problem[]}>} */
const looked = new WeakMap();

/** @param {EditorState} state @returns {Problem[]} */
function problemsOf(state) {
  const known = library.peek();
  const program = programOf(state);
  if (!known || !program) return [];
  const said = language.peek();
  const before = looked.get(program);
  if (before?.said === said) return before.problems;
  const problems = findProblems(program, known.translator);
  looked.set(program, { said, problems });
  return problems;
}

/** Whether a name is at the cursor that may just be unfinished. @param {EditorState} state @param {Problem} problem */
function isAtCursor(state, { from, to, isGuess }) {
  const { head } = state.selection.main;
  return isGuess === true && from <= head && head <= to;
}

/** @param {EditorView} view @returns {Promise<Diagnostic[]>} */
async function lint(view) {
  await arrived;
  const problems = problemsOf(view.state).filter(
    (each) => !(view.hasFocus && isAtCursor(view.state, each)),
  );
  leftProblems.value = leftIn(view.state, problems);
  const fixable = problems.filter(({ changes }) => changes?.length).length;
  bridgedLines.value = new Set(
    fixable > 0 ? problems.map(({ from }) => view.state.doc.lineAt(from).number) : [],
  );
  return problems.map((problem) => ({
    from: problem.from,
    to: problem.to,
    severity: problem.label ? "info" : "warning",
    source: "playgrad",
    message: problem.message.replace(/`/g, ""),
    actions: [
      ...(problem.label
        ? [{ name: problem.label.slice(0, 48), apply: () => fix(view, problem) }]
        : []),
      ...(fixable > 1 ? [{ name: t().bridge.fixAll, apply: fixAll }] : []),
    ],
  }));
}

/** The problems without a fix that can be made with the others. @param {EditorState} state @param {Problem[]} problems */
function leftIn(state, problems) {
  /** @type {Map<number, string[]>} */
  const lines = new Map();
  for (const { from, message, changes, isLoss } of problems) {
    if (changes?.length && !isLoss) continue;
    const line = state.doc.lineAt(from).number;
    const text = message.replace(/`/g, "");
    const before = lines.get(line) ?? [];
    if (!before.includes(text)) lines.set(line, [...before, text]);
  }
  return [...lines].map(([line, messages]) => ({ line, messages }));
}

/** Make the fix of a problem, unless the program has changed since. @param {EditorView} view @param {Problem} problem */
function fix(view, problem) {
  const now = problemsOf(view.state).find(
    (each) => each.from === problem.from && each.message === problem.message,
  );
  if (!now?.changes?.length) return;
  view.dispatch({ changes: now.changes, userEvent: "input.fix" });
  view.focus();
}

/** Make all fixes, as one change. @param {EditorView} view */
function fixAll(view) {
  const known = library.peek();
  if (!known) return;
  let changes = ChangeSet.empty(view.state.doc.length);
  const parse = (/** @type {string} */ code) => pythonLanguage.parser.parse(code);
  for (const round of translate(view.state.doc.toString(), parse, known.names, known.translator)) {
    changes = changes.compose(ChangeSet.of(round, changes.newLength));
  }
  view.dispatch({ changes, userEvent: "input.fix" });
  leftProblems.value = leftIn(view.state, problemsOf(view.state));
  isListed.value = true;
  view.focus();
}

/** Make all fixes of the program. */
export const fixProgram = () => inEditor(fixAll);

/** Make the first fix at the cursor; without one, go to the next mark. @param {EditorView} view */
function fixHere(view) {
  const { head } = view.state.selection.main;
  /** @type {Diagnostic[]} */
  const here = [];
  forEachDiagnostic(view.state, (each, from, to) => {
    if (from <= head && head <= to) here.push(each);
  });
  const action = here.flatMap(({ actions }) => actions ?? [])[0];
  if (!action) return nextDiagnostic(view);
  action.apply(view, head, head);
  return true;
}

/** Whether the cursor has left a name that may have been unfinished. @param {import("../../vendor/codemirror.js").ViewUpdate} update */
const hasLeftName = ({ selectionSet, focusChanged, startState }) =>
  (selectionSet || focusChanged) &&
  problemsOf(startState).some((each) => isAtCursor(startState, each));

export const bridge = [
  linter(lint, {
    delay: PAUSE_MS,
    needsRefresh: (update) => hasLeftName(update) || changesLanguage(update),
  }),
  keymap.of([{ key: "Alt-Enter", run: fixHere }, ...lintKeymap.filter(({ key }) => key !== "F8")]),
];
