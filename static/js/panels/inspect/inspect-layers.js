import { html, useEffect, useState } from "../../../vendor/preact.js";
import { drawnDigit } from "../../components/digit-canvas.js";
import { inspectLayers } from "../../engine/questions.js";
import {
  chosenLayer,
  edits,
  sampleNumber,
  scaled,
  usesDrawing,
} from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { Activations } from "./inspect-activations.js";
import { LayerList } from "./inspect-layer-list.js";
import { InspectedSample } from "./inspect-sample.js";
import { Travel } from "./inspect-travel.js";
import { ScaledUnits } from "./inspect-units.js";
import { Weights } from "./inspect-weights.js";
import { useView } from "./use-view.js";

/** @import { InspectedSample as InspectedSampleView } from "../../../engine/messages.js" */

/** The layers of the network: the weights of one of them, and its result for a sample. */
export function InspectLayers() {
  const [drawing] = useState(drawnDigit);
  const isDrawn = usesDrawing.value && drawing !== null;
  const { began } = store.executed.value;
  useEffect(() => {
    if (inspected.began !== began) {
      // of another network and other data
      edits.value = {};
      scaled.value = [];
    }
    inspected.began = began;
  }, [began]);
  const question = {
    layer: chosenLayer.value,
    sample: sampleNumber.value,
    pixels: isDrawn ? Array.from(drawing) : null,
    edits: Object.entries(edits.value).map(([at, value]) => ({ at: Number(at), value })),
    scaled: scaled.value,
  };
  const { answer, problem } = useView(
    () => inspectLayers(question),
    [question.layer, question.sample, isDrawn, edits.value, scaled.value],
  );
  if (!answer)
    return html`<div class="inspect-body"><p class="hint" role="status">${problem || t().inspect.asking}</p></div>`;
  return html`
    <div class="inspect-layers">
      ${problem && html`<p class="hint" role="status">${problem}</p>`}
      <${LayerList} view=${answer} />
      <div class="inspect-views">
        ${
          answer.sample === null || answer.result === null
            ? html`<p class="hint" data-testid="inspect-no-sample">${t().inspectLayers.noSample}</p>`
            : html`
          <${InspectedSample} sample=${answer.sample} hasDrawing=${drawing !== null && takes(answer.sample, drawing.length)} isDrawn=${isDrawn} />
          ${scaled.value.length > 0 && html`<${ScaledUnits} effect=${answer.effect} />`}
          ${answer.travel && html`<${Travel} travel=${answer.travel} sample=${answer.sample} layer=${answer.layer} />`}
          <${Activations} layer=${answer.layer} result=${answer.result} isChanged=${answer.travel !== null} />`
        }
        <${Weights} layer=${answer.layer} weights=${answer.weights} />
      </div>
    </div>
  `;
}

/** The run whose samples and units are edited. @type {{began: number | null}} */
const inspected = { began: null };

/** Whether the network takes a drawing of so many pixels. @param {InspectedSampleView} sample @param {number} pixels */
const takes = ({ picture }, pixels) =>
  picture !== null && picture.channels * picture.height * picture.width === pixels;
