import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { isPhone } from "../frame/layout.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { isWatching } from "../watching/watched.js";
import { LazyFigure, component } from "./lazy-figure.js";
import { LazyPrompt } from "./lazy-prompt.js";

/** The characters that surely fit beside the title. */
const LINE = 48;

/**
 * The output of the code: one line, until more is printed than fits. Follows new output unless the
 * user has scrolled up. It unfolds away from its buttons, so that they stay under the pointer: upwards
 * where the column is as high as the screen, downwards on a phone.
 */
export function ConsolePanel() {
  store.transcriptVersion.value;
  component.value; // the figures grow when their drawing is loaded
  const { lines } = store.transcript;
  const isOpen = store.outputOpen.value ?? !fits(lines);
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

  const head = html`
    <div class="panel-head" key="head">
      <h2><button type="button" class="drawer-handle" data-testid="output-toggle" aria-expanded=${isOpen}
        aria-controls="output" onClick=${() => (store.outputOpen.value = !isOpen)}>
        <${Icon} name=${isOpen === isPhone.value ? "up" : "down"} />${t().output.title}</button></h2>
      <span class="console-last" data-testid="output-line" data-stream=${lines.at(-1)?.stream}>
        ${!isOpen && lines.at(-1)?.text}</span>
      <button type="button" class="button quiet small" data-testid="output-clear" onClick=${store.clearOutput}
        disabled=${lines.length === 0}>${t().output.clear}</button>
    </div>`;
  return html`
    <section class="panel console-panel" aria-label=${t().output.title}>
      ${isPhone.value && head}
      <div class="console" key="console" id="output" hidden=${!isOpen} data-testid="console" ref=${box} onScroll=${onScroll}
        tabindex="0" role="log" aria-live="off" aria-label=${t().output.label}>
        ${lines.map(
          (line) => html`
          <div key=${line.id} class="console-line" data-stream=${line.stream}>
            ${line.figure ? html`<${LazyFigure} line=${line} />` : line.text || "\u00a0"}</div>
        `,
        )}
      </div>
      ${!isWatching && (isOpen || store.hasNamespace.value) && html`<${LazyPrompt} key="prompt" />`}
      ${!isPhone.value && head}
    </section>
  `;
}

/** Whether one line shows all of it. @param {typeof store.transcript.lines} lines */
function fits(lines) {
  const [first] = lines;
  return (
    !first ||
    (lines.length === 1 && !first.figure && first.stream !== "stderr" && first.text.length <= LINE)
  );
}
