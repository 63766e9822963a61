import { html, useEffect, useRef } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { bridgedLines, fixProgram } from "../editor/editor-bridge.js";
import { language, t } from "../words/locale.js";
import * as store from "../state/store.js";

/** The last error, with links to its line and operation. */
export function ErrorPanel() {
  const error = store.error.value;
  const words = t().errors;
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (error) place.current?.scrollIntoView({ block: "nearest" });
  }, [error]);
  return html`
    <div class="error-place" role="alert" ref=${place}>
      ${
        error &&
        html`
        <section class="error" data-testid="error" aria-label=${words.section}>
          <div class="error-head">
            <strong class="error-type">${words.kind(error.type)}</strong>
            ${error.op && html`<${Operation} name=${error.op} />`}
            ${
              error.line !== null &&
              html`
              <button type="button" class="link" data-testid="error-line"
                onClick=${() => store.revealLine(error.line)}>${words.line(error.line)}</button>
            `
            }
            <button type="button" class="button quiet icon-only" aria-label=${words.dismiss}
              onClick=${() => (store.error.value = null)}><${Icon} name="close" /></button>
          </div>
          <p class="error-message" lang=${error.traceback ? "en" : undefined}>${error.message}</p>
          ${error.traceback && language.value !== "en" && html`<p class="hint">${words.inEnglish}</p>`}
          ${
            error.line !== null &&
            bridgedLines.value.has(error.line) &&
            html`
            <button type="button" class="button small" data-testid="error-translate" onClick=${translate}>${words.translate}</button>
          `
          }
          ${
            error.traceback &&
            html`
            <details>
              <summary>${words.traceback}</summary>
              <pre tabindex="0">${error.traceback}</pre>
            </details>
          `
          }
        </section>
      `
      }
    </div>
  `;
}

function translate() {
  fixProgram();
  store.error.value = null;
}

/** The operation of an error; a link if the graph has its node. @param {{name: string}} props */
function Operation({ name }) {
  const known = store.graph.value?.nodes.some((node) => node.name === name);
  if (!known) return html`<code class="error-op" title=${t().errors.operation}>${name}</code>`;
  return html`<button type="button" class="link" title=${t().errors.showInGraph}
    onClick=${() => (store.selectedNode.value = name)}><code>${name}</code></button>`;
}
