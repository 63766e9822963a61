import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { t } from "../locale.js";
import * as store from "../store.js";
import { LazyFigure, component } from "./lazy-figure.js";
import { LazyPrompt } from "./lazy-prompt.js";

/**
 * The output of the code: a drawer that unfolds when something is printed. Follows new output unless
 * the user has scrolled up.
 */
export function ConsolePanel() {
  store.transcriptVersion.value;
  component.value; // the figures grow when their drawing is loaded
  const { lines } = store.transcript;
  const isOpen = store.outputOpen.value ?? lines.length > 0;
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

  return html`
    <section class="panel console-panel" aria-label=${t().output.title}>
      <div class="panel-head">
        <h2><button type="button" class="drawer-handle" data-testid="output-toggle" aria-expanded=${isOpen}
          aria-controls="output" onClick=${() => (store.outputOpen.value = !isOpen)}>
          <${Icon} name=${isOpen ? "down" : "up"} />${t().output.title}</button></h2>
        <button type="button" class="button quiet small" onClick=${store.clearOutput}
          disabled=${lines.length === 0}>${t().output.clear}</button>
      </div>
      <div class="console" id="output" hidden=${!isOpen} data-testid="console" ref=${box} onScroll=${onScroll} tabindex="0"
        role="log" aria-live="off" aria-label=${t().output.label}>
        ${lines.map(
          (line) => html`
          <div key=${line.id} class="console-line" data-stream=${line.stream}>
            ${line.figure ? html`<${LazyFigure} line=${line} />` : line.text || "\u00a0"}</div>
        `,
        )}
      </div>
      ${(isOpen || store.hasNamespace.value) && html`<${LazyPrompt} />`}
    </section>
  `;
}
