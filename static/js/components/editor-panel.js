import { EditorState, EditorView } from "../../vendor/codemirror.js";
import { effect, html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { setErrorLine, setLinkedLine } from "../editor-marks.js";
import { extensions } from "../editor-setup.js";
import { edit, restoreExample, saveCode } from "../examples.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";

/** The code editor, with marks for the error and for the selected node of the graph. */
export function EditorPanel() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));

  useEffect(() => {
    if (!place.current) return undefined;
    const view = new EditorView({ parent: place.current });
    const endings = [followSource(view), followError(view), followLine(view), followNode(view)];
    return () => {
      for (const end of endings) end();
      view.destroy();
    };
  }, []);

  return html`
    <section class="panel editor-panel" aria-label="Code">
      <div class="panel-head">
        <h2>Code</h2>
        <${RestoreButton} />
        <button type="button" class="button quiet icon-only" data-testid="save-code" aria-label="Save the code as a file"
          title="Save the code as a file" onClick=${saveCode}><${Icon} name="save" /></button>
      </div>
      <div class="editor" data-testid="editor" ref=${place}></div>
    </section>
  `;
}

/** Offers to discard the user's changes, and asks for confirmation. */
function RestoreButton() {
  const [asking, setAsking] = useState(false);
  const edited = store.edited.value;
  if (!edited) return html`<span class="hint">Ctrl+Enter to run, Esc then Tab to leave</span>`;
  if (!asking) {
    return html`<button type="button" class="button quiet small" data-testid="reset-code"
      onClick=${() => setAsking(true)}>Reset code</button>`;
  }
  const answer = (/** @type {boolean} */ yes) => () => {
    if (yes) restoreExample();
    setAsking(false);
  };
  return html`
    <span class="question" role="group" aria-label="Discard your changes?">
      <span>Discard your changes?</span>
      <button type="button" class="button small danger" data-testid="reset-code-confirm"
        onClick=${answer(true)}>Discard</button>
      <button type="button" class="button small" ref=${focusOnce} onClick=${answer(false)}>Keep</button>
    </span>
  `;
}

/** @param {HTMLElement | null} element */
const focusOnce = (element) => {
  element?.focus();
};

/** @param {EditorView} view */
function followSource(view) {
  let shown = /** @type {string | null} */ (null);
  return effect(() => {
    // Saved code is shown before the list of examples has arrived. If there is none, the editor
    // waits: the first example would replace what was typed.
    const waits = store.exampleId.value === "";
    const id = `${waits} ${store.example.value?.id}`;
    const code = store.source.value;
    if (id !== shown) {
      shown = id;
      // A new state, so that undo does not return to another example.
      const all = [...extensions(edit), EditorState.readOnly.of(waits)];
      view.setState(EditorState.create({ doc: code, extensions: all }));
    } else if (code !== view.state.doc.toString()) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: code } });
    }
  });
}

/** @param {EditorView} view */
function followError(view) {
  return effect(() => {
    const line = store.linesApply.value ? (store.error.value?.line ?? null) : null;
    view.dispatch({ effects: setErrorLine.of(line) });
    if (line !== null) scrollTo(view, line);
  });
}

/** @param {EditorView} view */
function followLine(view) {
  return effect(() => {
    const line = store.revealedLine.value?.line;
    if (!line || line > view.state.doc.lines) return;
    view.dispatch({ selection: { anchor: view.state.doc.line(line).from } });
    scrollTo(view, line);
    setTimeout(() => view.focus()); // after a full-page graph, which holds the focus, has closed
  });
}

/** @param {EditorView} view */
function followNode(view) {
  return effect(() => {
    const name = store.selectedNode.value;
    const node = store.graph.value?.nodes.find((each) => each.name === name);
    const line = store.linesApply.value ? (node?.line ?? null) : null;
    view.dispatch({ effects: setLinkedLine.of(line) });
    if (line !== null) scrollTo(view, line);
  });
}

/** @param {EditorView} view @param {number} line */
function scrollTo(view, line) {
  if (line < 1 || line > view.state.doc.lines) return;
  const { from } = view.state.doc.line(line);
  view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "nearest", yMargin: 40 }) });
}
