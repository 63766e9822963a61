import { html, useEffect, useRef } from "../../vendor/preact.js";
import { executePrompt, interruptPrompt } from "../state/actions.js";
import { Icon } from "../components/icons.js";
import { loadLibrary } from "../language/library.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { createPrompt, setCode } from "./prompt-editor.js";
import { PromptHistory } from "./prompt-history.js";

/** @typedef {import("../../vendor/codemirror.js").EditorView} EditorView */

/** Executes code with the names of the program, while it trains and after its end. */
export function Prompt() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const isBusy = store.promptBusy.value;
  const isReady = store.hasNamespace.value;

  useEffect(() => {
    if (!place.current) return undefined;
    const history = new PromptHistory();
    /** @type {EditorView} */
    const view = createPrompt(place.current, {
      earlier: (shown, direction) => history.move(shown, direction),
      interrupt: () => store.promptBusy.value && (interruptPrompt(), true),
      submit(code) {
        if (store.promptBusy.value) return;
        if (!store.hasNamespace.value) {
          store.note(t().prompt.runFirst);
          return;
        }
        history.add(code);
        setCode(view, "");
        executePrompt(code);
      },
    });
    return () => view.destroy();
  }, []);

  const words = t().prompt;
  return html`
    <div class="prompt" data-busy=${isBusy ? "" : undefined} data-ready=${isReady ? "" : undefined} onFocusIn=${loadLibrary}>
      <span class="prompt-mark" aria-hidden="true">${">>>"}</span>
      <div class="prompt-editor" ref=${place}></div>
      ${
        isBusy &&
        html`
        <span class="hint" role="status" data-testid="prompt-state">${store.runState.value === "running" ? words.betweenSteps : words.working}</span>
        <button type="button" class="button quiet small" data-testid="prompt-stop" title=${words.interrupt}
          onClick=${interruptPrompt}><${Icon} name="stop" />${words.stop}</button>
      `
      }
    </div>
  `;
}
