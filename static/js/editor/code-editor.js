import { EditorState, EditorView } from "../../vendor/codemirror.js";
import { batch, effect, html, useEffect, useRef } from "../../vendor/preact.js";
import { edit } from "../gallery/examples.js";
import { loadLibrary, loadLibrarySoon } from "../language/library.js";
import { layerLine, lookAtLine } from "../training/layer-links.js";
import { locksHere } from "../sharing/locks.js";
import * as store from "../state/store.js";
import { isWatching } from "../watching/watched.js";
import { holdEditor } from "./editor-access.js";
import { lineLocks, replacement, showLocks, takeLocks } from "./editor-locks.js";
import { setErrorLine, setLinkedLine } from "./editor-marks.js";
import { extensions } from "./editor-setup.js";

/** The code editor, with marks for the error, and for the layer or the node of the graph that is shown. */
export function CodeEditor() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));

  useEffect(() => {
    if (!place.current) return undefined;
    const view = new EditorView({ parent: place.current });
    holdEditor(view);
    loadLibrarySoon();
    const endings = [followSource(view), followError(view), followLine(view), followNode(view)];
    return () => {
      for (const end of endings) end();
      holdEditor(null);
      view.destroy();
    };
  }, []);

  return html`<div class="editor" data-testid="editor" ref=${place} onFocusIn=${loadLibrary}></div>`;
}

/** @param {EditorView} view */
function followSource(view) {
  let shown = /** @type {string | null} */ (null);
  let wasHeld = false;
  let original = /** @type {string | undefined} */ (undefined);
  const onEdit = (/** @type {string} */ code) =>
    batch(() => {
      edit(code);
      takeLocks(view.state);
    });
  return effect(() => {
    // Saved code is shown before the list of examples has arrived. If there is none, the editor
    // waits: the first example would replace typed text.
    const waits = store.exampleId.value === "";
    const id = `${waits} ${store.example.value?.id}`;
    const code = store.source.value;
    const { isHeld } = locksHere.value;
    const isTranslated = original !== store.example.value?.source; // locked lines, too
    if (id !== shown || (isHeld && (!wasHeld || isTranslated))) {
      shown = id;
      // A new state, so that undo does not return to another example, or to before lines were locked.
      const all = [
        ...extensions(onEdit),
        lineLocks,
        followCursor,
        EditorState.readOnly.of(waits || isWatching),
      ];
      view.setState(EditorState.create({ doc: code, extensions: all }));
    } else if (code !== view.state.doc.toString()) {
      view.dispatch({ changes: replacement(view.state, code) });
    }
    wasHeld = isHeld;
    original = store.example.value?.source;
    showLocks(view);
  });
}

/** Inspect shows the layer of the line to which the visitor goes. */
const followCursor = EditorView.updateListener.of(({ state, transactions }) => {
  if (transactions.some((each) => each.isUserEvent("select")))
    lookAtLine(state.doc.lineAt(state.selection.main.head).number);
});

/** @param {EditorView} view */
function followError(view) {
  return effect(() => {
    const line = store.linesApply.value ? (store.error.value?.line ?? null) : null;
    view.dispatch({ effects: setErrorLine.of(line) });
    if (line === null) return;
    scrollTo(view, line);
    requestAnimationFrame(() => scrollTo(view, line)); // the error's card has taken some of the room
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
    const line = layerLine.value ?? (store.linesApply.value ? (node?.line ?? null) : null);
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
