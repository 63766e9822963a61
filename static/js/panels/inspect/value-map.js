import { html, useLayoutEffect, useMemo, useRef } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { parseColour, unitPixels } from "../../pictures/plane-colours.js";
import { cssColour, theme } from "../../frame/theme.js";

/** @import { Palette } from "../../pictures/plane-colours.js" */

/** The colours of negative and positive numbers. @returns {Palette} */
export function usePalette() {
  const name = theme.value;
  return useMemo(
    () => ({
      surface: parseColour(cssColour("--surface")),
      classes: [0, 1].map((at) => parseColour(cssColour(`--series-${at}`))),
    }),
    [name],
  );
}

/**
 * Numbers as the colours of small squares: 0 is the colour of the panel.
 * @param {{values: Float32Array, height: number, width: number, largest: number, palette: Palette, label?: string}} props
 *   `largest`: the number with the full colour; `label`: for screen readers, if nothing around says it
 */
export function ValueMap({ values, height, width, largest, palette, label }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    const bytes = Uint8Array.from(values, (value) =>
      Number.isFinite(value) ? Math.round(128 + (127 * value) / (largest || 1)) : 128,
    );
    canvas.current
      ?.getContext("2d")
      ?.putImageData(new ImageData(unitPixels(bytes, palette), width, height), 0, 0);
  });
  const words = label
    ? { role: "img", "aria-label": label, title: label }
    : { "aria-hidden": "true" };
  return html`<canvas class="value-map" width=${width} height=${height} ref=${canvas} ...${words}></canvas>`;
}

/**
 * The scale of the colours, and how many numbers have none.
 * @param {{values: Float32Array, largest: number, children?: unknown}} props `children`: more to be said
 */
export function ColourScale({ values, largest, children }) {
  const words = t().inspectLayers;
  const strays = values.reduce((sum, value) => sum + (Number.isFinite(value) ? 0 : 1), 0);
  return html`
    <p class="hint">
      ${(strays === 0 || strays < values.length) && words.scale(format.rate(largest))}
      ${strays > 0 && html` <b data-testid="strays">${words.strays(strays, values.length)}</b>`} ${children}
    </p>
  `;
}
