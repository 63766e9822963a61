import { html } from "../../../vendor/preact.js";
import { oneSampleView } from "../../engine/questions.js";
import { sampleNumber } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { completedOne } from "./sample-cache.js";
import { SampleList } from "./sample-list.js";
import { SampleSteps } from "./sample-steps.js";
import { useView } from "./use-view.js";

/** Any sample of the data, by its number. */
export function OneSample() {
  const number = sampleNumber.value;
  const { answer, problem } = useView(() => oneSampleView(number), [number]);
  const words = t().inspectSamples;
  return html`
    <section class="sample-part" data-testid="one-sample" aria-labelledby="one-sample-title">
      <h3 id="one-sample-title">${words.anySample}</h3>
      ${problem && html`<p class="hint" data-failed role="status">${problem}</p>`}
      ${
        answer?.shows === "sample" &&
        html`
        <p class="inspect-steps"><span role="status" data-testid="one-sample-number">${t().inspectLayers.sample(
          answer.sample.number,
          answer.sample.count,
          answer.sample.tested,
        )}</span>
          <${SampleSteps} count=${answer.sample.count} /></p>
        <${SampleList} samples=${completedOne(answer)} numbers=${[0]} />`
      }
    </section>
  `;
}
