import { html } from "../../../vendor/preact.js";
import { SampleNumber } from "../../components/sample-number.js";
import { lookAt, sampleNumber } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";

/**
 * The way to other samples: the one before or after the chosen one, one at random, or any by its number.
 * @param {{count: number}} props
 */
export function SampleSteps({ count }) {
  const words = t().inspectLayers;
  const here = sampleNumber.value % count;
  const to = (/** @type {number} */ step) => lookAt((here + step + count) % count, false);
  // Any but the chosen one.
  const random = () => to(1 + Math.floor(Math.random() * (count - 1)));
  return html`
    <button type="button" class="button small" data-testid="sample-before" onClick=${() => to(-1)}>${words.previous}</button>
    <${SampleNumber} count=${count} value=${here} testId="sample-number" onChoose=${(/** @type {number} */ number) => lookAt(number, false)} />
    <button type="button" class="button small" data-testid="sample-next" onClick=${() => to(1)}>${words.next}</button>
    <button type="button" class="button small" data-testid="sample-random" onClick=${random}>${words.random}</button>
  `;
}
