/** Completion of playgrad's names in the editor, from the static index. */

import {
  Prec,
  acceptCompletion,
  autocompletion,
  completeAnyWord,
  completionStatus,
  currentCompletions,
  ensureSyntaxTree,
  keymap,
  selectedCompletion,
  setSelectedCompletion,
  syntaxTree,
} from "../../vendor/codemirror.js";
import { suggest } from "../language/completing.js";
import { element, explanation, parameterElement } from "../language/explanation.js";
import { library } from "../language/library.js";
import { Program } from "../language/program.js";

/**
 * @import { Completion, CompletionContext, CompletionResult, EditorState, EditorView } from "../../vendor/codemirror.js"
 * @import { Suggestion } from "../language/completing.js"
 */

/** Milliseconds for parsing the rest of a long program. */
const PARSE_MS = 50;

/** Programs that have been read. @type {WeakMap<EditorState["doc"], Program>} */
const programs = new WeakMap();

/** The program of a state, or null while the names of playgrad are not here. @param {EditorState} state */
export function programOf(state) {
  const known = library.peek();
  if (!known) return null;
  const read = programs.get(state.doc);
  if (read) return read;
  const whole = ensureSyntaxTree(state, state.doc.length, PARSE_MS);
  const program = new Program(
    state.doc.toString(),
    whole ?? syntaxTree(state),
    known.names,
    known.translator,
  );
  if (whole) programs.set(state.doc, program);
  return program;
}

/** @param {CompletionContext} context @returns {CompletionResult | null} */
function complete(context) {
  const program = programOf(context.state);
  const found = program && suggest(program, context.pos);
  if (!found)
    return context.explicit
      ? /** @type {CompletionResult | null} */ (completeAnyWord(context))
      : null;
  return { from: found.from, options: found.options.map(completion), validFor: /^\w*$/ };
}

/** @param {Suggestion} suggestion @returns {Completion} */
export function completion({ label, kind, detail, name, parameter, boost }) {
  return {
    label,
    type: kind,
    detail,
    boost,
    info: () => (name === undefined ? null : info(name, parameter)),
  };
}

/** @param {string} name @param {string | undefined} parameter */
function info(name, parameter) {
  const names = library.peek()?.names;
  if (!names) return null;
  const described = names.parameters(name)?.find(([each]) => each === parameter);
  return described
    ? element("div", "code-explanation", parameterElement(described))
    : explanation(names, name);
}

/** Accept the chosen suggestion, or the first. @param {EditorView} view */
export function acceptFirst(view) {
  if (completionStatus(view.state) !== "active") return false;
  if (!selectedCompletion(view.state)) view.dispatch({ effects: setSelectedCompletion(0) });
  return acceptCompletion(view);
}

/**
 * Accept the first suggestion for the beginning of a name after a dot. Elsewhere Enter begins a line,
 * unless a suggestion has been chosen with the arrow keys.
 * @param {EditorView} view
 */
function acceptUnfinished(view) {
  if (completionStatus(view.state) !== "active" || selectedCompletion(view.state)) return false;
  const { head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  const word = /\.(\w+)$/.exec(line.text.slice(0, head - line.from))?.[1];
  const isWhole = currentCompletions(view.state).some(({ label }) => label === word);
  return word !== undefined && !isWhole && acceptFirst(view);
}

export const completions = [
  autocompletion({ override: [complete], selectOnOpen: false, maxRenderedOptions: 60 }),
  Prec.highest(
    keymap.of([
      { key: "Tab", run: acceptFirst },
      { key: "Enter", run: acceptUnfinished },
    ]),
  ),
];
