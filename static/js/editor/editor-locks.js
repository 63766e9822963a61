/**
 * Locked lines in the editor: shown with a lock, and kept from every change if they came with a link.
 * A change is refused as a whole if it would leave other text in a locked line, or join it to one;
 * "replace all" replaces the matches that are elsewhere.
 */

import {
  ChangeSet,
  Decoration,
  EditorState,
  EditorView,
  GutterMarker,
  StateEffect,
  StateField,
  gutter,
  showTooltip,
} from "../../vendor/codemirror.js";
import { t } from "../words/locale.js";
import { locksHere, refuse, setLocks, unlockCopy } from "../sharing/locks.js";
import { note } from "../state/store.js";
import { changesAround } from "./line-locks.js";

/**
 * @import { ChangeDesc, Text, Transaction } from "../../vendor/codemirror.js"
 * @import { LineRange } from "./line-locks.js"
 *
 * @typedef {{from: number, to: number}} Block from the start of a line to the end of one
 * @typedef {{blocks: Block[], isHeld: boolean}} Shown
 */

/** @type {import("../../vendor/codemirror.js").StateEffectType<import("../sharing/locks.js").Locks>} */
const show = StateEffect.define();
/** @type {import("../../vendor/codemirror.js").StateEffectType<null>} */
const refused = StateEffect.define();
/** How many matches were replaced, and how many are in locked lines. @type {import("../../vendor/codemirror.js").StateEffectType<{replaced: number, left: number}>} */
const partly = StateEffect.define();
/** The reason has been read, or is in the way. */
const read = StateEffect.define();

/** @param {Text} doc @param {LineRange[]} lines @returns {Block[]} */
const blocksOf = (doc, lines) =>
  lines
    .filter(([, to]) => to <= doc.lines)
    .map(([from, to]) => ({ from: doc.line(from).from, to: doc.line(to).to }));

/** @param {EditorState} state @returns {LineRange[]} */
export const linesOf = (state) =>
  state
    .field(locked)
    .blocks.map(({ from, to }) => [state.doc.lineAt(from).number, state.doc.lineAt(to).number]);

/**
 * Where a block is after changes, if its lines are still the same.
 * @param {ChangeDesc} changes
 * @param {Text} before
 * @param {Text} after
 * @param {Block} block
 * @returns {Block | null}
 */
function keptAt(changes, before, after, { from, to }) {
  if (changes.touchesRange(from, to) === "cover") return null;
  const isEmpty = from === to;
  for (const side of isEmpty ? [1, -1] : [1]) {
    const start = changes.mapPos(from, side);
    const end = isEmpty ? start : changes.mapPos(to, -1);
    const isWhole =
      end - start === to - from &&
      after.lineAt(start).from === start &&
      after.lineAt(end).to === end;
    if (isWhole && after.sliceString(start, end) === before.sliceString(from, to))
      return { from: start, to: end };
  }
  return null;
}

/** Where the lines of a block are after the author has changed them. @param {Transaction} transaction @param {Block} block @returns {Block | null} */
function changedAt({ changes, newDoc }, { from, to }) {
  if (changes.touchesRange(from, to) === "cover") return null;
  const [start, end] = [changes.mapPos(from, -1), changes.mapPos(to, 1)];
  const isGone = changes.mapPos(from, 1) >= changes.mapPos(to, -1) && from < to;
  return isGone ? null : { from: newDoc.lineAt(start).from, to: newDoc.lineAt(end).to };
}

const locked = StateField.define({
  create: () => /** @type {Shown} */ ({ blocks: [], isHeld: false }),
  update(shown, transaction) {
    const { changes, startState, newDoc } = transaction;
    let now = shown;
    if (transaction.docChanged && shown.blocks.length > 0) {
      /** @type {Block[]} */
      const blocks = [];
      for (const block of shown.blocks) {
        const moved =
          keptAt(changes, startState.doc, newDoc, block) ?? changedAt(transaction, block);
        const last = blocks.at(-1);
        if (moved && last && moved.from <= last.to) last.to = Math.max(last.to, moved.to);
        else if (moved) blocks.push(moved);
      }
      now = { ...shown, blocks };
    }
    for (const effect of transaction.effects) {
      if (effect.is(show))
        now = { blocks: blocksOf(newDoc, effect.value.lines), isHeld: effect.value.isHeld };
    }
    return now;
  },
});

/** The history does not ask: it only reverts changes that were allowed here. */
const filter = EditorState.transactionFilter.of((transaction) => {
  const { blocks, isHeld } = transaction.startState.field(locked);
  if (!transaction.docChanged || !isHeld) return transaction;
  const { changes, startState, newDoc } = transaction;
  const isAllowed = (/** @type {ChangeDesc} */ each, /** @type {Text} */ after) =>
    blocks.every((block) => keptAt(each, startState.doc, after, block));
  if (isAllowed(changes, newDoc)) return transaction;
  return (
    (transaction.isUserEvent("input.replace.all") && replacedElsewhere(transaction, isAllowed)) || [
      { effects: [refused.of(null), EditorView.announce.of(t().locks.held)] },
    ]
  );
});

/**
 * "Replace all" without the matches in locked lines; null if there are no others.
 * @param {Transaction} transaction
 * @param {(changes: ChangeDesc, after: Text) => boolean} isAllowed
 * @returns {import("../../vendor/codemirror.js").TransactionSpec | null}
 */
function replacedElsewhere({ changes, startState: { doc } }, isAllowed) {
  /** @type {{from: number, to: number, insert: Text}[]} */
  const all = [];
  changes.iterChanges((from, to, _from, _to, insert) => all.push({ from, to, insert }), true);
  const allowed = all.filter((each) => {
    const one = ChangeSet.of(each, doc.length);
    return isAllowed(one, one.apply(doc));
  });
  const rest = ChangeSet.of(allowed, doc.length);
  if (allowed.length === 0 || !isAllowed(rest, rest.apply(doc))) return null;
  const counts = { replaced: allowed.length, left: all.length - allowed.length };
  const said = EditorView.announce.of(t().locks.replaced(counts.replaced, counts.left));
  return { changes: rest, effects: [partly.of(counts), said], userEvent: "input.replace.all" };
}

/** The reason, where it was typed, until the next key. */
const reason = StateField.define({
  create: () => /** @type {import("../../vendor/codemirror.js").Tooltip | null} */ (null),
  update(tooltip, { effects, docChanged, selection, state }) {
    // Above the first lines it would cover the tabs.
    if (effects.some((effect) => effect.is(refused)))
      return { pos: state.selection.main.head, above: false, create: reasonBox };
    return docChanged || selection || effects.some((effect) => effect.is(read)) ? null : tooltip;
  },
  provide: (field) => showTooltip.from(field),
});

const hideReason = EditorView.domEventHandlers({
  keydown: ({ key }, view) => {
    if (key === "Escape" && view.state.field(reason)) view.dispatch({ effects: read.of(null) });
    return false;
  },
  focusout: ({ relatedTarget }, view) => {
    const isInside = relatedTarget instanceof Node && view.dom.contains(relatedTarget);
    if (!isInside && view.state.field(reason)) view.dispatch({ effects: read.of(null) });
    return false;
  },
});

function reasonBox() {
  const dom = document.createElement("div");
  dom.className = "code-hint lock-reason";
  dom.dataset.testid = "lock-reason";
  const button = document.createElement("button");
  Object.assign(button, {
    type: "button",
    className: "link",
    textContent: t().locks.unlockCopy,
    onclick: unlockCopy,
  });
  dom.append(t().locks.held, " ", button);
  return { dom };
}

class Lock extends GutterMarker {
  /** @param {string} title */
  constructor(title) {
    super();
    this.title = title;
  }

  /** @override @param {Lock} other */
  eq(other) {
    return other.title === this.title;
  }

  /** @override */
  toDOM() {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS(svg.namespaceURI ?? "", "path");
    path.setAttribute("d", "M5 7V5a3 3 0 0 1 6 0v2h1v7H4V7zm1.5 0h3V5a1.5 1.5 0 0 0-3 0z");
    svg.setAttribute("viewBox", "0 0 16 16");
    svg.setAttribute("class", "icon");
    svg.append(path);
    const mark = document.createElement("span");
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", this.title);
    mark.title = this.title;
    mark.append(svg);
    return mark;
  }
}

/** @param {EditorState} state @param {Block} block */
function titleOf(state, block) {
  /** @type {import("./line-locks.js").LineRange} */
  const range = [state.doc.lineAt(block.from).number, state.doc.lineAt(block.to).number];
  return state.field(locked).isHeld ? t().locks.heldHere(range) : t().locks.forLinks(range);
}

const gutterOfLocks = gutter({
  class: "cm-lock-gutter",
  lineMarker: ({ state }, line) => {
    const block = state.field(locked).blocks.find(({ from }) => from === line.from);
    return block ? new Lock(titleOf(state, block)) : null;
  },
  lineMarkerChange: ({ startState, state }) => startState.field(locked) !== state.field(locked),
});

const lockedLine = Decoration.line({ class: "cm-locked-line" });

/** Only the visible lines: a range may have any length. */
const background = EditorView.decorations.of((view) => {
  const { blocks } = view.state.field(locked);
  if (blocks.length === 0) return Decoration.none;
  /** @type {import("../../vendor/codemirror.js").Range<Decoration>[]} */
  const lines = [];
  for (const { from, to } of view.visibleRanges) {
    for (let line = view.state.doc.lineAt(from); ; line = view.state.doc.line(line.number + 1)) {
      if (blocks.some((block) => block.from <= line.from && line.to <= block.to))
        lines.push(lockedLine.range(line.from));
      if (line.to >= to || line.number === view.state.doc.lines) break;
    }
  }
  return Decoration.set(lines);
});

/** Say it when the cursor comes to locked lines: a gutter is not read out. */
const announcement = EditorState.transactionExtender.of(({ startState, selection, docChanged }) => {
  if (!selection || docChanged) return null;
  const { blocks } = startState.field(locked);
  const blockAt = (/** @type {number} */ at) =>
    blocks.find(({ from, to }) => from <= at && at <= to);
  const block = blockAt(selection.main.head);
  if (!block || block === blockAt(startState.selection.main.head)) return null;
  return { effects: EditorView.announce.of(titleOf(startState, block)) };
});

const look = EditorView.theme({
  ".cm-locked-line, .cm-locked-line.cm-activeLine": { backgroundColor: "var(--locked)" },
  ".cm-lock-gutter .cm-gutterElement": {
    display: "flex",
    alignItems: "center",
    color: "var(--muted)",
  },
  ".cm-lock-gutter .icon": { width: "12px", height: "12px" },
});

const listener = EditorView.updateListener.of(({ transactions }) => {
  for (const effect of transactions.flatMap(({ effects }) => effects)) {
    if (effect.is(refused)) refuse();
    if (effect.is(partly))
      note(
        t().locks.replaced(effect.value.replaced, effect.value.left),
        t().locks.unlockCopy,
        unlockCopy,
      );
  }
});

export const lineLocks = [
  locked,
  filter,
  reason,
  hideReason,
  gutterOfLocks,
  background,
  announcement,
  look,
  listener,
];

/** Shows locks. @param {LineRange[]} lines @param {boolean} isHeld whether they are kept from changes */
export const showing = (lines, isHeld) => show.of({ lines, isHeld });

/** Show the locks of the open example. @param {EditorView} view */
export function showLocks(view) {
  const locks = locksHere.value;
  const isShown =
    view.state.field(locked).isHeld === locks.isHeld &&
    JSON.stringify(linesOf(view.state)) === JSON.stringify(locks.lines);
  if (!isShown) view.dispatch({ effects: showing(locks.lines, locks.isHeld) });
}

/** Keep the locks where the editor has moved them. @param {EditorState} state */
export const takeLocks = (state) => setLocks(linesOf(state));

/** The changes that give the editor another text, around locked lines. @param {EditorState} state @param {string} code */
export function replacement(state, code) {
  const lines = linesOf(state);
  if (lines.length === 0) return { from: 0, to: state.doc.length, insert: code };
  return changesAround(state.doc.toString(), code.replace(/\r\n?/g, "\n"), lines);
}
