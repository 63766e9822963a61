import { html, useRef, useState } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { factorOf, toggleUnit } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { largestOf } from "../../pictures/plane-colours.js";
import { floats } from "../../training/task.js";
import { ColourScale, usePalette, ValueMap } from "./value-map.js";

/** @import { LayerResult } from "../../../engine/messages.js" */

/** @param {Float32Array} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The result of a layer for the sample: a map of each unit, which a click silences.
 * @param {{layer: string, result: LayerResult, isChanged: boolean}} props `isChanged`: the sample or a unit is edited
 */
export function Activations({ layer, result, isChanged }) {
  const words = t().inspectLayers;
  const palette = usePalette();
  const [withChange, setWithChange] = useState(false);
  const [active, setActive] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const { units, height, width } = result;
  const size = height * width;
  const values = floats(result.values);
  const change = floats(result.change);
  const changeOf = (/** @type {number} */ at) => mean(change.subarray(at * size, (at + 1) * size));
  const shown = withChange && isChanged ? change : values;
  const largest = largestOf(shown);
  const here = Math.min(active, units.length - 1);

  /** One of many units is in the order of the Tab key. @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const to = /** @type {Record<string, number>} */ ({
      ArrowLeft: here - 1,
      ArrowUp: here - 1,
      ArrowRight: here + 1,
      ArrowDown: here + 1,
      Home: 0,
      End: units.length - 1,
    })[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(units.length - 1, to));
    setActive(next);
    /** @type {HTMLElement | undefined} */ (
      list.current?.querySelectorAll("button")[next]
    )?.focus();
  }

  return html`
    <section class="inspect-part" data-testid="activations-view" data-layer=${layer} aria-labelledby="inspect-activations-title">
      <h3 id="inspect-activations-title">${words.activationsOf(layer)} <span class="hint">${format.shape(result.shape)}</span></h3>
      <p class="hint">${words.silenceHint}</p>
      ${
        isChanged &&
        html`<label class="toggle"><input type="checkbox" data-testid="show-change" checked=${withChange}
        onChange=${() => setWithChange(!withChange)} />${words.showChange}</label>`
      }
      <div class="units" data-maps=${size > 1 ? "" : undefined} role="group" aria-label=${words.unitsOf(layer)} ref=${list} onKeyDown=${onKeyDown}>
        ${units.map((unit, at) => {
          const map = shown.subarray(at * size, (at + 1) * size);
          const value = mean(values.subarray(at * size, (at + 1) * size));
          const factor = factorOf(layer, unit);
          const label =
            words.unit(unit + 1, format.rate(value), size > 1) +
            (factor ? words.scaledBy(format.rate(factor)) : "");
          return html`<button key=${unit} type="button" class="unit" data-testid="unit" data-unit=${unit} data-value=${value}
            tabindex=${at === here ? 0 : -1} aria-pressed=${factor !== undefined} data-scaled=${factor ? "" : undefined} aria-label=${label} title=${label}
            onFocus=${() => setActive(at)} onClick=${() => toggleUnit(layer, unit)}>
            <${ValueMap} values=${map} height=${height} width=${width} largest=${largest} palette=${palette} /></button>`;
        })}
      </div>
      <${ColourScale} values=${shown} largest=${largest}>${units.length < result.total_units && words.someUnits(units.length, result.total_units)}</>
      <details>
        <summary>${words.asTable}</summary>
        <div class="inspect-scroll" tabindex="0" role="region" aria-label=${words.asTable}><table>
          <thead><tr><th scope="col">${words.unitColumn}</th><th scope="col">${words.meanColumn}</th><th scope="col">${words.changeColumn}</th></tr></thead>
          <tbody>${units.map(
            (unit, at) => html`<tr key=${unit}><th scope="row">${unit + 1}</th>
            <td>${format.rate(mean(values.subarray(at * size, (at + 1) * size)))}</td>
            <td data-testid="unit-change" data-value=${changeOf(at)}>${format.rate(changeOf(at))}</td></tr>`,
          )}</tbody>
        </table></div>
      </details>
    </section>
  `;
}
