import { html } from "../../../vendor/preact.js";
import { tick } from "../../words/format.js";
import { t } from "../../words/locale.js";

const WIDTH = 320;
const HEIGHT = 64;

/** @param {{histogram: import("../../../engine/messages.js").Histogram}} props */
export function ValueHistogram({ histogram: { low, high, counts, sampled } }) {
  const words = t().nodeTabs;
  const most = Math.max(...counts);
  const width = WIDTH / counts.length;
  return html`
    <figure class="node-histogram">
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
        aria-label=${words.histogram(tick(low), tick(high))}>
        ${counts.map(
          (count, at) =>
            count > 0 &&
            html`
          <rect key=${at} x=${at * width + 0.5} width=${Math.max(1, width - 1)}
            y=${HEIGHT - Math.max(1, (HEIGHT * count) / most)} height=${Math.max(1, (HEIGHT * count) / most)}>
            <title>${count}</title>
          </rect>
        `,
        )}
      </svg>
      <figcaption><span>${tick(low)}</span>${sampled && html`<span>${words.sampled}</span>`}<span>${tick(high)}</span></figcaption>
    </figure>
  `;
}
