import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { largestOf } from "../../pictures/plane-colours.js";
import { floats } from "../../training/task.js";
import { ColourScale, usePalette, ValueMap } from "./value-map.js";

/** @import { WeightView } from "../../../engine/messages.js" */

/** The weights of a layer, as pictures with numbers behind them. @param {{layer: string, weights: WeightView[]}} props */
export function Weights({ layer, weights }) {
  const words = t().inspectLayers;
  return html`
    <section class="inspect-part" data-testid="weights-view" data-layer=${layer} aria-labelledby="inspect-weights-title">
      <h3 id="inspect-weights-title">${words.weightsOf(layer)}</h3>
      ${weights.length === 0 && html`<p class="hint">${words.noWeights}</p>`}
      ${weights.map((weight) => html`<${Weight} key=${`${layer} ${weight.name}`} weight=${weight} />`)}
    </section>
  `;
}

/** @param {{weight: WeightView}} props */
function Weight({ weight }) {
  const words = t().inspectLayers;
  const palette = usePalette();
  const { name, shape, layout, rows, columns, height, width } = weight;
  const values = floats(weight.values);
  const largest = largestOf(values);
  const size = height * width;
  const pictures = Array.from({ length: rows * columns }, (_, at) =>
    values.subarray(at * size, (at + 1) * size),
  );
  const isSampled = weight.units.length < weight.total_units || weight.inputs < weight.total_inputs;
  const note = isSampled
    ? words.sampled(weight.units.length, weight.total_units, weight.inputs, weight.total_inputs)
    : "";
  return html`
    <div class="weight" data-testid=${`weight-${name}`}>
      <p class="weight-line"><b>${name}</b> <span class="hint">${format.shape(shape)}</span></p>
      <dl class="weight-numbers">
        ${["mean", "deviation", "smallest", "largest", "norm"].map((each) => {
          const number = /** @type {any} */ (weight)[each];
          return html`<div key=${each}><dt>${/** @type {any} */ (words.numbers)[each]}</dt>
            <dd data-testid=${`${name}-${each}`} data-value=${number}>${format.rate(number)}</dd></div>`;
        })}
        <div><dt>${words.numbers.zeros}</dt><dd>${format.percent(weight.zeros, 1)}</dd></div>
      </dl>
      <div class=${`weight-pictures ${layout}`} style=${{ "--columns": columns }} data-wide=${columns > 1 ? "" : undefined}
        data-tall=${height > width * 3 ? "" : undefined} data-flat=${width > height * 3 ? "" : undefined}>
        ${pictures.map(
          (each, at) => html`<${ValueMap} key=${at} values=${each} height=${height} width=${width}
          largest=${largest} palette=${palette} label=${
            layout === "filters"
              ? words.filter(
                  weight.units[Math.floor(at / columns)] + 1,
                  (at % columns) + 1,
                  columns,
                )
              : words.matrix(name)
          } />`,
        )}
      </div>
      <${ColourScale} values=${values} largest=${largest}>${note}</>
      <details>
        <summary>${words.asTable}</summary>
        <div class="inspect-scroll" tabindex="0" role="region" aria-label=${words.asTable}><table>
          <thead><tr><th scope="col">${words.unitColumn}</th><th scope="col">${words.norm}</th></tr></thead>
          <tbody>${weight.units.map(
            (unit, at) => html`<tr key=${unit}><th scope="row">${unit + 1}</th>
            <td>${format.rate(weight.norms[at])}</td></tr>`,
          )}</tbody>
        </table></div>
      </details>
    </div>
  `;
}
