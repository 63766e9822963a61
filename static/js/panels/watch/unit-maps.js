import { html, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { t } from "../../locale.js";
import { unitPixels } from "../../plane-colours.js";

/**
 * @import { UnitMaps as Maps } from "../../../engine/messages.js"
 * @import { Palette } from "../../plane-colours.js"
 */

/** The values of hidden units over the plane, a row for each layer. @param {{layers: Maps[], palette: Palette}} props */
export function UnitMaps({ layers, palette }) {
  return html`
    <div class="unit-layers">
      ${layers.map(({ name, units, side, maps }) => {
        const shown = maps.length / side ** 2;
        return html`
          <section class="unit-layer" key=${name} aria-label=${t().task.unitsOf(name)}>
            <h3 class="hint">${t().task.units(name, shown, units)}</h3>
            <ul class="unit-row">
              ${Array.from({ length: shown }, (_, at) => html`
                <li key=${at}><${UnitMap} maps=${maps} at=${at}
                  side=${side} palette=${palette} label=${t().task.unit(at + 1, name)} /></li>
              `)}
            </ul>
          </section>
        `;
      })}
    </div>
  `;
}

/** @param {{maps: Uint8Array, at: number, side: number, palette: Palette, label: string}} props */
function UnitMap({ maps, at, side, palette, label }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    const bytes = maps.subarray(at * side ** 2, (at + 1) * side ** 2);
    context?.putImageData(new ImageData(unitPixels(bytes, palette), side, side), 0, 0);
  }, [maps, at, side, palette]);
  return html`<canvas class="unit-map" width=${side} height=${side} ref=${canvas} role="img"
    aria-label=${label} title=${label}></canvas>`;
}
