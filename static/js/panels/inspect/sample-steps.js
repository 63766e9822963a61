import { html } from "../../../vendor/preact.js";
import { lookAt, sampleNumber } from "../../inspected-layer.js";
import { t } from "../../locale.js";

/** The way to other samples: the one before or after that which is looked at, or any by its number. @param {{count: number}} props */
export function SampleSteps({ count }) {
  const words = t().inspectLayers;
  const here = sampleNumber.value % count;
  const to = (/** @type {number} */ step) => lookAt((here + step + count) % count, false);
  const choose = (/** @type {any} */ { target }) => {
    const number = Math.round(Number(target.value));
    if (target.value.trim() !== "" && Number.isFinite(number)) lookAt(Math.min(Math.max(number, 1), count) - 1, false);
    target.value = String(sampleNumber.value + 1);
  };
  return html`
    <button type="button" class="button small" data-testid="sample-before" onClick=${() => to(-1)}>${words.previous}</button>
    <input class="sample-number" type="number" min="1" max=${count} value=${here + 1} data-testid="sample-number"
      aria-label=${words.sampleNumber(count)} title=${words.sampleNumber(count)} onChange=${choose} />
    <button type="button" class="button small" data-testid="sample-next" onClick=${() => to(1)}>${words.next}</button>
  `;
}
