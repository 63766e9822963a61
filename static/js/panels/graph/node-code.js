import { html } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";

/** The lines of the program that are shown before and after that of the node. */
const AROUND = 4;

/**
 * The line of the program that created a node, with the lines around it.
 * @param {{node: import("../../../engine/messages.js").GraphNode, onLine: () => void}} props
 */
export function NodeCode({ node, onLine }) {
  const words = t().nodeTabs;
  const { line } = node;
  if (line === null) return html`<p class="hint">${words.noLine}</p>`;
  const lines = store.executed.value.source.split("\n");
  const first = Math.max(1, line - AROUND);
  return html`
    <ol class="node-code" start=${first}>
      ${lines.slice(first - 1, line + AROUND).map(
        (text, at) => html`
        <li key=${first + at} value=${first + at} aria-current=${first + at === line ? "true" : undefined}><code>${text || " "}</code></li>
      `,
      )}
    </ol>
    ${
      store.linesApply.value
        ? html`<button type="button" class="button small" data-testid="node-to-line" onClick=${onLine}>${words.toLine(line)}</button>`
        : html`<p class="hint">${words.edited}</p>`
    }
    ${
      Object.keys(node.attrs ?? {}).length > 0 &&
      html`
      <h4>${words.attributes}</h4>
      <dl>${Object.entries(node.attrs).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    `
    }
  `;
}
