import { html, useEffect, useRef } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { edits, lookAt, sampleNumber, usesDrawing } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { floats } from "../../training/task.js";
import { joined } from "../../words/tokens.js";
import { PixelEditor } from "./pixel-editor.js";
import { RowEditor } from "./row-editor.js";
import { SampleSteps } from "./sample-steps.js";

/** @import { InspectedSample as Sample } from "../../../engine/messages.js" */

/**
 * The chosen sample, the network's prediction for it, and the way to others.
 * @param {{sample: Sample, hasDrawing: boolean, isDrawn: boolean}} props `hasDrawing`: there is a drawing that could be chosen
 */
export function InspectedSample({ sample, hasDrawing, isDrawn }) {
  const words = t().inspectLayers;
  const { picture, count, target, decision } = sample;
  const values = sample.values && floats(sample.values);
  const isEdited = Object.keys(edits.value).length > 0;
  return html`
    <section class="inspect-sample" data-testid="inspect-sample" aria-labelledby="inspect-sample-title">
      ${picture && values && html`<${PixelEditor} sample=${sample} picture=${picture} values=${values} />`}
      ${picture && !values && html`<${SamplePicture} picture=${picture} />`}
      <div class="inspect-sample-facts">
        <h3 id="inspect-sample-title">${sample.number === null ? words.drawing : words.sample(sample.number, count, sample.tested)}</h3>
        <p class="inspect-verdict" role="status">
          ${target !== null && html`<span>${words.target} <b>${format.tick(target)}</b></span>`}
          ${decision !== null && html`<span>${words.predicted} <b data-testid="inspect-predicted">${format.tick(decision)}</b></span>`}
          ${
            sample.decision_before !== null &&
            sample.decision_before !== decision &&
            html`<span>${words.predictedBefore} <b>${format.tick(sample.decision_before)}</b></span>`
          }
        </p>
        <p class="inspect-steps">
          <${SampleSteps} count=${count} />
          ${
            hasDrawing &&
            html`<button type="button" class="button small" data-testid="sample-drawn" aria-pressed=${isDrawn}
            onClick=${() => lookAt(sampleNumber.value, !usesDrawing.value)}>${words.drawing}</button>`
          }
          ${
            isEdited &&
            html`<button type="button" class="button small" data-testid="reset-sample"
            onClick=${() => (edits.value = {})}>${words.resetSample}</button>`
          }
        </p>
        ${sample.tokens && html`<p class="inspect-text" data-testid="inspect-text">${joined(sample.tokens)}</p>`}
        ${!picture && values && html`<${RowEditor} sample=${sample} values=${values} />`}
        ${
          picture &&
          isEdited &&
          html`<figure class="inspect-original"><${SamplePicture} picture=${picture} />
          <figcaption class="hint">${words.original}</figcaption></figure>`
        }
      </div>
    </section>
  `;
}

/** @param {{picture: NonNullable<Sample["picture"]>}} props */
function SamplePicture({ picture }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const { height, width, channels, pixels } = picture;
  useEffect(() => {
    const image = new ImageData(width, height);
    for (let pixel = 0; pixel < width * height; pixel += 1) {
      for (let channel = 0; channel < 3; channel += 1) {
        image.data[4 * pixel + channel] = pixels[pixel * channels + (channels === 3 ? channel : 0)];
      }
      image.data[4 * pixel + 3] = 255;
    }
    canvas.current?.getContext("2d")?.putImageData(image, 0, 0);
  }, [picture]);
  return html`<canvas class="inspect-picture" width=${width} height=${height} ref=${canvas} aria-hidden="true"></canvas>`;
}
