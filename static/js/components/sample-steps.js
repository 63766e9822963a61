import { html } from "../../vendor/preact.js";
import { lookAt, sampleNumber } from "../inspected-layer.js";
import { t } from "../locale.js";

/** The way to the samples before and after the one that is looked at. @param {{count: number}} props */
export function SampleSteps({ count }) {
  const words = t().inspectLayers;
  const to = (/** @type {number} */ step) => lookAt((sampleNumber.value + step + count) % count, false);
  return html`
    <button type="button" class="button small" data-testid="sample-before" onClick=${() => to(-1)}>${words.previous}</button>
    <button type="button" class="button small" data-testid="sample-next" onClick=${() => to(1)}>${words.next}</button>
  `;
}
