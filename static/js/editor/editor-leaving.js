/** Says how the keyboard leaves the editor when Tab first indents (WCAG 2.1.2, No Keyboard Trap). */

import {
  EditorView,
  Prec,
  StateEffect,
  StateField,
  keymap,
  showTooltip,
} from "../../vendor/codemirror.js";
import { t } from "../words/locale.js";

/** Whether the box is to be shown. */
const show = /** @type {import("../../vendor/codemirror.js").StateEffectType<boolean>} */ (
  StateEffect.define()
);

/** @typedef {{isSaid: boolean, tooltip: import("../../vendor/codemirror.js").Tooltip | null}} Said */

/** The box at the cursor, until the next change or key; and whether it has been shown. */
const box = StateField.define({
  create: () => /** @type {Said} */ ({ isSaid: false, tooltip: null }),
  update(value, { effects, docChanged, selection, state }) {
    const wanted = effects.find((effect) => effect.is(show));
    if (wanted?.value)
      return {
        isSaid: true,
        tooltip: { pos: state.selection.main.head, above: false, create: textBox },
      };
    return value.tooltip && (wanted || docChanged || selection)
      ? { ...value, tooltip: null }
      : value;
  },
  provide: (field) => showTooltip.from(field, ({ tooltip }) => tooltip),
});

function textBox() {
  const dom = document.createElement("div");
  dom.className = "code-hint";
  dom.dataset.testid = "editor-leaving";
  dom.textContent = t().codeHelp.leaving;
  return { dom };
}

/** After the key has indented: it must not be held up. @param {EditorView} view */
function say(view) {
  if (!view.state.field(box).isSaid)
    queueMicrotask(() => view.dispatch({ effects: show.of(true) }));
  return false;
}

const hide = EditorView.domEventHandlers({
  blur: (_, view) => {
    if (view.state.field(box).tooltip) view.dispatch({ effects: show.of(false) });
  },
});

export const leaving = [box, hide, Prec.highest(keymap.of([{ key: "Tab", run: say }]))];
