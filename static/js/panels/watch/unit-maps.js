import { html, useLayoutEffect, useRef, useState } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { onResize } from "../../training/observe.js";
import { unitPixels } from "../../pictures/plane-colours.js";

/**
 * @import { UnitMaps as Maps } from "../../../engine/messages.js"
 * @import { Palette } from "../../pictures/plane-colours.js"
 */

/** The distance of two maps. */
const GAP_PX = 5;
/** Maps beside each other, and the width of a layer from which there are so many; otherwise one. */
const COLUMNS = [
  [8, 307],
  [4, 151],
  [2, 49],
];
/** The width of a single column, so that eight maps below each other are not higher than the plane. */
const SINGLE_PX = 34;

/** The values of hidden units over the plane, a column for each layer, or a row where there is little room. @param {{layers: Maps[], palette: Palette}} props */
export function UnitMaps({ layers, palette }) {
  return html`
    <div class="unit-layers">
      ${layers.map(
        (layer) => html`
        <section class="unit-layer" key=${layer.name} aria-label=${t().task.unitsOf(layer.name)}>
          <h3 class="hint">${t().task.units(layer.name, shownOf(layer), layer.units)}</h3>
          <${UnitRow} layer=${layer} palette=${palette} />
        </section>
      `,
      )}
    </div>
  `;
}

/** @param {Maps} layer */
const shownOf = ({ maps, side }) => maps.length / side ** 2;

/**
 * The maps of a layer, on one canvas: one for each of them costs a training network more.
 * @param {{layer: Maps, palette: Palette}} props
 */
function UnitRow({ layer, palette }) {
  const { name, side, maps } = layer;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const strip = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  // Measured only when it changes: to ask at each redraw would lay out the page twice.
  const [{ room, width, height }, setSize] = useState({ room: 0, width: 0, height: 0 });
  const [columns] = COLUMNS.find(([, from]) => room >= from) ?? [1];

  useLayoutEffect(() => {
    const element = /** @type {HTMLCanvasElement} */ (canvas.current);
    const layer = /** @type {HTMLElement} */ (element.closest(".unit-layer"));
    const measure = () =>
      setSize({
        room: layer.clientWidth,
        width: element.clientWidth,
        height: element.clientHeight,
      });
    measure();
    return onResize(layer, measure);
  }, [columns]); // which change its size
  useLayoutEffect(() => {
    strip.current ??= document.createElement("canvas");
    if (!canvas.current || width === 0) return;
    resize(
      canvas.current,
      Math.round(width * devicePixelRatio),
      Math.round(height * devicePixelRatio),
    );
    draw(canvas.current, strip.current, layer, palette, columns);
  }, [maps, side, palette, width, height]);

  return html`
    <div class="unit-row" style=${columns === 1 ? { maxWidth: `${SINGLE_PX}px` } : {}}>
      <canvas ref=${canvas} aria-hidden="true"></canvas>
      <ul style=${{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`, gap: `${GAP_PX}px` }}>
        ${Array.from({ length: shownOf(layer) }, (_, at) => {
          const label = t().task.unit(at + 1, name);
          return html`<li key=${at}><span class="unit-map" role="img" aria-label=${label} title=${label}></span></li>`;
        })}
      </ul>
    </div>
  `;
}

/**
 * @param {HTMLCanvasElement} canvas below the cells of the list
 * @param {HTMLCanvasElement} strip takes the maps pixel by pixel, below each other
 * @param {Maps} layer
 * @param {Palette} palette
 * @param {number} columns
 */
function draw(canvas, strip, layer, palette, columns) {
  const { maps, side } = layer;
  const shown = shownOf(layer);
  const [from, to] = [strip.getContext("2d"), canvas.getContext("2d")];
  if (!from || !to) return;
  resize(strip, side, shown * side);
  from.putImageData(new ImageData(unitPixels(maps, palette), side, shown * side), 0, 0);
  const gap = GAP_PX * devicePixelRatio;
  const cell = (canvas.width + gap) / columns - gap;
  for (let at = 0; at < shown; at += 1) {
    const [left, top] = [at % columns, Math.floor(at / columns)].map(
      (place) => place * (cell + gap),
    );
    to.drawImage(strip, 0, at * side, side, side, left, top, cell, cell);
  }
}

/** Set a canvas's size, which empties it, if it has another one. @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
function resize(canvas, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}
