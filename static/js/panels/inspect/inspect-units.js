import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { scaled, setFactor } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { ValueField } from "./value-field.js";

/** @import { UnitEdit, UnitsEffect } from "../../../engine/messages.js" */

/** The ends of the slider of a factor; its field takes any number. */
const MOST = 2;

/**
 * The units that are silenced or scaled, with their factors, and the loss with and without.
 * @param {{effect: UnitsEffect | null}} props `effect`: null until it has been computed
 */
export function ScaledUnits({ effect }) {
  const words = t().inspectLayers;
  return html`
    <section class="inspect-scaled" data-testid="scaled-units" aria-labelledby="inspect-scaled-title">
      <div class="inspect-part">
        <h3 id="inspect-scaled-title">${words.scaledUnits}</h3>
        <p class="hint">${words.scaledHint}</p>
        <ul class="unit-factors">${scaled.value.map((each) => html`<${Factor} key=${`${each.layer} ${each.unit}`} edit=${each} />`)}</ul>
        <p><button type="button" class="button small" data-testid="unsilence" onClick=${() => (scaled.value = [])}>${words.unsilence}</button></p>
      </div>
      ${effect ? html`<${Effect} effect=${effect} />` : html`<p class="hint" role="status">${t().inspect.asking}</p>`}
    </section>
  `;
}

/** @param {{edit: UnitEdit}} props */
function Factor({ edit: { layer, unit, factor } }) {
  const words = t().inspectLayers;
  const name = words.unitOf(layer, unit + 1);
  const id = `${layer}-${unit}`;
  return html`
    <li>
      <label for=${`factor-${id}`}>${name}</label>
      <input type="range" min=${-MOST} max=${MOST} step="0.05" value=${factor} aria-label=${words.factorSlider(name)}
        data-testid=${`factor-slider-${id}`}
        onInput=${(/** @type {Event} */ event) => setFactor(layer, unit, /** @type {HTMLInputElement} */ (event.currentTarget).valueAsNumber)} />
      <span aria-hidden="true">×</span>
      <${ValueField} id=${`factor-${id}`} testId=${`factor-${id}`} value=${factor} whole=${false}
        onValue=${(/** @type {number} */ value) => setFactor(layer, unit, value)} />
    </li>
  `;
}

/** The scores with all units as they are, and as they are scaled. @param {{effect: UnitsEffect}} props */
function Effect({ effect }) {
  const words = t().inspectLayers;
  const number = (/** @type {string} */ name, /** @type {number} */ value) =>
    name.endsWith("accuracy") ? format.percent(value, 1) : format.loss(value);
  return html`
    <table data-testid="silence-effect"><thead><tr><th scope="col">${words.onSamples(effect.samples)}</th>
      <th scope="col">${words.original}</th><th scope="col">${words.changed}</th></tr></thead>
      <tbody>${Object.keys(effect.before).map(
        (name) => html`<tr key=${name}><th scope="row">${name}</th>
        <td data-testid=${`before-${name}`} data-value=${effect.before[name]}>${number(name, effect.before[name])}</td>
        <td data-testid=${`after-${name}`} data-value=${effect.after[name]}>${number(name, effect.after[name])}</td></tr>`,
      )}</tbody></table>
  `;
}
