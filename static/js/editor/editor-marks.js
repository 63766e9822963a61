/** Marks on lines of the editor: the line of an error, and the line that created the selected node. */

import {
  Decoration,
  EditorView,
  GutterMarker,
  RangeSet,
  StateEffect,
  StateField,
  gutter,
} from "../../vendor/codemirror.js";

import { t } from "../words/locale.js";

/** @typedef {import("../../vendor/codemirror.js").StateEffectType<number | null>} LineEffect */

/** Line of the last error, or null. */
export const setErrorLine = /** @type {LineEffect} */ (StateEffect.define());
/** Line of the selected node, or null. */
export const setLinkedLine = /** @type {LineEffect} */ (StateEffect.define());

class ErrorMarker extends GutterMarker {
  /** @override */
  toDOM() {
    const mark = document.createElement("span");
    mark.textContent = "●";
    mark.title = t().codeHelp.errorHere;
    return mark;
  }
}
const errorMarker = new ErrorMarker();

/**
 * A field that holds one marked line and follows it through edits.
 * @param {LineEffect} effectType
 * @param {Decoration} decoration
 */
function markedLine(effectType, decoration) {
  return StateField.define({
    create: () => Decoration.none,
    update(marks, transaction) {
      let now = marks.map(transaction.changes);
      for (const effect of transaction.effects) {
        if (!effect.is(effectType)) continue;
        const { doc } = transaction.state;
        const line = effect.value;
        const exists = line !== null && line >= 1 && line <= doc.lines;
        now = exists ? Decoration.set([decoration.range(doc.line(line).from)]) : Decoration.none;
      }
      return now;
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

const errorField = markedLine(
  setErrorLine,
  Decoration.line({ class: "cm-error-line", attributes: { "aria-invalid": "true" } }),
);
const linkedField = markedLine(setLinkedLine, Decoration.line({ class: "cm-linked-line" }));

const errorGutter = gutter({
  class: "cm-error-gutter",
  markers(view) {
    /** @type {import("../../vendor/codemirror.js").Range<GutterMarker>[]} */
    const ranges = [];
    view.state.field(errorField).between(0, view.state.doc.length, (from) => {
      ranges.push(errorMarker.range(from));
    });
    return RangeSet.of(ranges);
  },
  initialSpacer: () => errorMarker,
});

export const marks = [errorField, linkedField, errorGutter];
