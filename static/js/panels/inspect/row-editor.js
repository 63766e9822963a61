import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { edits, setValues } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { ValueField } from "./value-field.js";

/** @import { InspectedSample } from "../../../engine/messages.js" */

const MOST_FIELDS = 64;

/**
 * The values of a row of a table, as fields.
 * @param {{sample: InspectedSample, values: Float32Array}} props `values`: before edits
 */
export function RowEditor({ sample, values }) {
  const words = t().inspectLayers;
  const shown = values.subarray(0, MOST_FIELDS);
  return html`
    <p class="hint">${words.rowHint}</p>
    <div class="row-editor" data-testid="row-editor">
      ${Array.from(
        shown,
        (original, at) => html`<label key=${at} data-edited=${at in edits.value ? "" : undefined}>
        <span>${t().inspectSamples.column(at + 1)}</span>
        <${ValueField} testId=${`value-${at}`} value=${edits.value[at] ?? original} whole=${sample.whole}
          described=${at in edits.value ? `value-was-${at}` : undefined}
          onValue=${(/** @type {number} */ value) => setValues([at], value, values)} />
        ${at in edits.value && html`<span class="hint" id=${`value-was-${at}`}>${words.was(format.rate(original))}</span>`}</label>`,
      )}
    </div>
    ${values.length > MOST_FIELDS && html`<p class="hint">${words.valuesLeft(values.length - MOST_FIELDS)}</p>`}
  `;
}
