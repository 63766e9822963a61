import { html, signal } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { NodeCode } from "./node-code.js";
import { NodeKernel } from "./node-kernel.js";
import { NodeSummary } from "./node-summary.js";
import { NodeTime } from "./node-time.js";

/** @import { GraphNode } from "../../../engine/messages.js" */

const NAMES = /** @type {const} */ (["value", "gradient", "time", "kernel", "code"]);
/** The open tab, which outlives the selection. */
const open = signal(/** @type {typeof NAMES[number]} */ ("value"));

/**
 * What is known of a node, in tabs.
 * @param {{node: GraphNode, onLine: () => void}} props `onLine`: the user moves to the code
 */
export function NodeTabs({ node, onLine }) {
  const words = t().nodeTabs;
  const name = open.value;

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const here = NAMES.indexOf(name);
    const to = /** @type {Record<string, number>} */ ({
      ArrowLeft: here - 1,
      ArrowRight: here + 1,
      Home: 0,
      End: -1,
    })[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open.value = /** @type {typeof NAMES[number]} */ (NAMES.at(to % NAMES.length));
    document.getElementById(`node-tab-${open.value}`)?.focus();
  }

  return html`
    <div class="node-tabs" role="tablist" aria-label=${words.label} onKeyDown=${onKeyDown}>
      ${NAMES.map(
        (each) => html`
        <button key=${each} type="button" role="tab" id=${`node-tab-${each}`} data-testid=${`node-${each}`}
          aria-selected=${each === name} aria-controls="node-tab-content" tabindex=${each === name ? 0 : -1}
          onClick=${() => (open.value = each)}>${words.tabs[each]}</button>
      `,
      )}
    </div>
    <div class="node-tab-content" role="tabpanel" id="node-tab-content" aria-labelledby=${`node-tab-${name}`}
      data-testid="node-tab-content">
      ${(name === "value" || name === "gradient") && html`<${NodeSummary} key=${`${name} ${node.name}`} node=${node} part=${name} />`}
      ${name === "time" && html`<${NodeTime} node=${node} />`}
      ${name === "kernel" && html`<${NodeKernel} node=${node} />`}
      ${name === "code" && html`<${NodeCode} node=${node} onLine=${onLine} />`}
    </div>
  `;
}
