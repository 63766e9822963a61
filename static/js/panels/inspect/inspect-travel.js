import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";

/** @import { InspectedSample, LayersView } from "../../../engine/messages.js" */

/**
 * The outputs before and after a change, and its size in each layer.
 * @param {{travel: NonNullable<LayersView["travel"]>, sample: InspectedSample, layer: string}} props
 *   `layer`: the chosen one
 */
export function Travel({ travel, sample, layer }) {
  const words = t().inspectLayers;
  const largest = Math.max(...travel.map(({ ratio }) => ratio ?? 0)) || 1;
  return html`
    <div class="inspect-travel">
      <section class="inspect-part" aria-labelledby="inspect-travel-title">
        <h3 id="inspect-travel-title">${words.travel}</h3>
        <p class="hint">${words.travelHint}</p>
        <table data-testid="travel"><tbody>${travel.map(
          ({ name, ratio }) => html`
          <tr key=${name ?? ""} data-chosen=${name === layer ? "" : undefined}><th scope="row">${name ?? words.input}</th>
            <td class="travel-bar"><meter min="0" max=${largest} value=${ratio ?? largest} aria-hidden="true"></meter></td>
            <td data-testid=${`travel-${name ?? "input"}`} data-value=${ratio ?? "Infinity"}>
              ${ratio === null ? words.travelFromZero : format.rate(ratio)}</td></tr>`,
        )}</tbody></table>
      </section>
      <section class="inspect-part" aria-labelledby="inspect-outputs-title">
        <h3 id="inspect-outputs-title">${words.outputs}</h3>
        <table data-testid="changed-outputs">
          <thead><tr><th scope="col">${words.output}</th><th scope="col">${words.original}</th><th scope="col">${words.changed}</th></tr></thead>
          <tbody>${sample.outputs.map(
            (value, at) => html`<tr key=${at}><th scope="row">${at}</th>
            <td data-testid="output-before" data-value=${sample.outputs_before[at]}>${format.loss(sample.outputs_before[at])}</td>
            <td data-testid="output-after" data-value=${value}>${format.loss(value)}</td></tr>`,
          )}</tbody></table>
      </section>
    </div>
  `;
}
