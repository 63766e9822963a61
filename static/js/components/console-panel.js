import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import * as store from "../store.js";

/** The output of the code. Follows new output unless the user has scrolled up. */
export function ConsolePanel() {
  store.transcriptVersion.value;
  const { lines } = store.transcript;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const following = useRef(true);

  useLayoutEffect(() => {
    const element = box.current;
    if (element && following.current) element.scrollTop = element.scrollHeight;
  });

  function onScroll() {
    const element = box.current;
    if (!element) return;
    following.current = element.scrollHeight - element.scrollTop - element.clientHeight < 8;
  }

  function clear() {
    store.transcript.clear();
    store.transcriptVersion.value += 1;
  }

  return html`
    <section class="panel console-panel" aria-label="Output">
      <div class="panel-head">
        <h2>Output</h2>
        <button type="button" class="button quiet small" onClick=${clear}
          disabled=${lines.length === 0}>Clear</button>
      </div>
      <div class="console" data-testid="console" ref=${box} onScroll=${onScroll} tabindex="0"
        role="log" aria-live="off" aria-label="Output of the code">
        ${lines.map(({ id, text, stream }) => html`
          <div key=${id} class="console-line" data-stream=${stream}>${text || "\u00a0"}</div>
        `)}
      </div>
    </section>
  `;
}
