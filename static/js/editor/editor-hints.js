/** Signatures in the editor: of the call being written, and of the name under the pointer or the cursor. */

import {
  EditorView,
  Prec,
  StateEffect,
  StateField,
  hoverTooltip,
  keymap,
  showTooltip,
} from "../../vendor/codemirror.js";
import { callAt, nameAt } from "../language/asking.js";
import {
  element,
  explanation,
  parameterElement,
  plain,
  signatureElement,
} from "../language/explanation.js";
import { t } from "../words/locale.js";
import { programOf } from "./editor-completion.js";

/**
 * @import { EditorState, Tooltip } from "../../vendor/codemirror.js"
 * @import { Call } from "../language/asking.js"
 *
 * @typedef {{call: Call | null, explained: {name: string, from: number} | null, tooltip: Tooltip | null}} Hint
 */

/** Show the signature of the call, or explain the name, at the cursor; null closes both. @type {import("../../vendor/codemirror.js").StateEffectType<"explain" | null>} */
const ask = StateEffect.define();

/** A letter is lower than its line: the tooltip keeps off the whole of it. */
const CLEAR = { x: 0, y: 5 };

/** @type {Hint} */
const NOTHING = { call: null, explained: null, tooltip: null };

/** @param {EditorState} state @param {Call} call @returns {Hint} */
function callHint(state, call) {
  const program = programOf(state);
  const entry = program?.names.entry(call.name);
  if (!program || !entry) return NOTHING;
  const { names } = program;
  const create = () => {
    const dom = element("div", "code-hint", signatureElement(names, call.name, call.parameter));
    dom.dataset.testid = "signature-help";
    const parameter = entry.p?.[call.parameter];
    if (parameter) dom.append(parameterElement(parameter));
    return { dom, offset: CLEAR };
  };
  const { head } = state.selection.main;
  const line = state.doc.lineAt(head);
  return {
    call,
    explained: null,
    tooltip: { pos: Math.max(line.from, Math.min(head, call.from)), above: true, create },
  };
}

/** @param {EditorState} state @returns {Hint} */
function explain(state) {
  const program = programOf(state);
  const { head } = state.selection.main;
  const asked = program && nameAt(program, head);
  if (!program || !asked) {
    const call = program && callAt(program, head);
    return call ? callHint(state, call) : NOTHING;
  }
  const create = () => {
    const dom = explanation(program.names, asked.name);
    dom.dataset.testid = "explanation";
    return { dom };
  };
  return { call: null, explained: asked, tooltip: { pos: asked.from, above: true, create } };
}

const hints = StateField.define({
  create: () => NOTHING,
  update(hint, transaction) {
    const { state } = transaction;
    for (const effect of transaction.effects) {
      if (effect.is(ask)) return effect.value === "explain" ? explain(state) : NOTHING;
    }
    if (!transaction.docChanged && !transaction.selection) return hint;
    if (hint.explained) return NOTHING;
    // Typing opens it, moving about in the call keeps it.
    if (!hint.call && !transaction.isUserEvent("input")) return NOTHING;
    const program = programOf(state);
    const call = program && callAt(program, state.selection.main.head);
    if (!call || (!transaction.docChanged && call.list !== hint.call?.list)) return NOTHING;
    const isClosed = hint === NOTHING && !opensHint(transaction);
    return isClosed ? NOTHING : callHint(state, call);
  },
  provide: (field) => showTooltip.from(field, ({ tooltip }) => tooltip),
});

/** Whether the typed text begins an argument. @param {import("../../vendor/codemirror.js").Transaction} transaction */
function opensHint(transaction) {
  const { head } = transaction.state.selection.main;
  return /[(,]\s?$/.test(transaction.state.sliceDoc(Math.max(0, head - 2), head));
}

/** @param {EditorView} view */
function close(view) {
  if (!view.state.field(hints).tooltip) return false;
  view.dispatch({ effects: ask.of(null) });
  return true;
}

/** @param {EditorView} view */
function explainHere(view) {
  const { names } = programOf(view.state) ?? {};
  view.dispatch({ effects: ask.of("explain") });
  const { explained, call } = view.state.field(hints);
  const name = explained?.name ?? call?.name;
  const entry = name === undefined ? undefined : names?.entry(name);
  const spoken =
    entry && names && name !== undefined
      ? `${signatureElement(names, name).textContent}. ${plain(entry.d ?? "")}`
      : t().codeHelp.unknown;
  view.dispatch({ effects: EditorView.announce.of(spoken) });
  return true;
}

const hover = hoverTooltip((view, at) => {
  const program = programOf(view.state);
  const asked = program && nameAt(program, at);
  if (!program || !asked) return null;
  const create = () => {
    const dom = explanation(program.names, asked.name);
    dom.dataset.testid = "explanation";
    return { dom };
  };
  return { pos: asked.from, end: asked.to, above: true, create };
});

export const explanations = [
  hints,
  hover,
  Prec.high(
    keymap.of([
      { key: "Escape", run: close },
      { key: "Mod-i", run: explainHere },
    ]),
  ),
];
