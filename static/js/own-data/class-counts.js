import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";

const MOST_SHOWN = 24;

/**
 * How many samples or nodes each class has, as bars.
 * @param {{counts: {name: string, number: number, text: string}[], label: string}} props `text`: the number in words
 */
export function ClassCounts({ counts, label }) {
  if (counts.length === 0) return null;
  const most = Math.max(1, ...counts.map(({ number }) => number));
  return html`<ul class="data-classes" aria-label=${label}>
    ${counts.slice(0, MOST_SHOWN).map(
      ({ name, number, text }, place) => html`<li key=${place}>
      <span class="data-class" title=${name}>${place}: ${name}</span>
      <meter min="0" max=${most} value=${number} aria-hidden="true"></meter>
      <span class="hint">${text}</span>
    </li>`,
    )}
    ${counts.length > MOST_SHOWN && html`<li class="hint">${t().data.use.moreClasses(counts.length - MOST_SHOWN)}</li>`}
  </ul>`;
}
