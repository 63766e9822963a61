import { html, useEffect, useRef } from "../../vendor/preact.js";
import { nameOfClass } from "../words/class-names.js";
import { short } from "../words/format.js";
import { COLOURS, css } from "../pictures/palette.js";
import { drawPoint } from "../pictures/point-shapes.js";

/** @import { Palette } from "../pictures/plane-colours.js" */

/**
 * The points of each class, or the colours of numbers.
 * @param {{classes: number, palette: Palette, range: [number, number], names: string[]}} props
 *   `classes`: 0 for numbers, which are in `range`
 */
export function PointLegend({ classes, palette, range, names }) {
  if (classes === 0) {
    return html`<p class="plane-legend hint">
      <span>${short(range[0])}</span><span class="plane-scale" aria-hidden="true"></span><span>${short(range[1])}</span>
    </p>`;
  }
  return html`
    <ul class="plane-legend hint">
      ${Array.from(
        { length: classes },
        (_, at) => html`
        <li key=${at}><${Swatch} label=${at} palette=${palette} />${nameOfClass(at, names)}</li>
      `,
      )}
    </ul>
  `;
}

/** A point as it is drawn. @param {{label: number, palette: Palette}} props */
function Swatch({ label, palette }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    context.clearRect(0, 0, 24, 24);
    drawPoint(
      context,
      label,
      12,
      12,
      8,
      css(palette.classes[label % COLOURS]),
      css(palette.surface),
      label >= COLOURS,
    );
  }, [label, palette]);
  return html`<canvas class="plane-swatch" width="24" height="24" ref=${canvas} aria-hidden="true"></canvas>`;
}
