import { html, useEffect, useRef, useState } from "../../../vendor/preact.js";
import { SampleNumber } from "../../components/sample-number.js";
import { shape, tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { onVisible } from "../../training/observe.js";
import * as store from "../../state/store.js";
import { useProgress } from "../../training/use-training.js";
import { NodeAsker } from "./node-asker.js";
import { reasonOf } from "./node-words.js";
import { ValueGrid } from "./value-grid.js";
import { ValueHistogram } from "./value-histogram.js";
import { ValuePictures } from "./value-pictures.js";

/**
 * @import { BatchChoice, GraphNode, NodePictures, NodeView, Summary } from "../../../engine/messages.js"
 * @typedef {"value" | "gradient"} Part
 */

const STATISTICS = /** @type {const} */ (["min", "max", "mean", "std", "zeros", "nan", "inf"]);

/** The value of a node, or the gradient of the loss. @param {{node: GraphNode, part: Part}} props */
export function NodeSummary({ node, part }) {
  const words = t().nodeTabs;
  const [output, setOutput] = useState(0);
  const [sample, setSample] = useState(/** @type {BatchChoice} */ ("last"));
  const { place, view, problem } = useNodeView(node.name, output, part, sample);
  return html`
    <div class="node-summary" ref=${place} data-part=${part}>
      ${
        view &&
        (view.outputs > 1 || view.samples !== null) &&
        html`
        <div class="node-choices">
          ${
            view.outputs > 1 &&
            html`<label>${words.output}
            <input type="number" min="1" max=${view.outputs} value=${output + 1} data-testid="node-output"
              onChange=${(/** @type {any} */ event) => setOutput(whole(event.target.value, 1, view.outputs, 1) - 1)} />
          </label>`
          }
          ${view.samples !== null && html`<${SampleChoice} count=${view.samples} testCount=${view.test_samples} sample=${sample} onChoose=${setSample} />`}
        </div>
      `
      }
      ${view?.summary && html`<${Shown} summary=${view.summary} pictures=${view.pictures} />`}
      ${view?.problem && html`<p class="hint" data-testid="node-problem">${reasonOf(view.problem)}</p>`}
      ${problem && html`<p class="hint" role="alert">${problem}</p>`}
      ${!view && !problem && html`<p class="hint" role="status">${words.asking}</p>`}
    </div>
  `;
}

/**
 * The answer about a node, again and again while the weights change.
 * @param {string} name
 * @param {number} output
 * @param {Part} part
 * @param {BatchChoice} sample
 */
function useNodeView(name, output, part, sample) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [answer, setAnswer] = useState(
    /** @type {{view: NodeView | null, problem: string}} */ ({ view: null, problem: "" }),
  );
  const asker = useRef(/** @type {NodeAsker | null} */ (null));
  asker.current ??= new NodeAsker((view, problem) => setAnswer({ view, problem }));
  const state = store.runState.value;
  const live = store.liveModel.value;
  useEffect(() => asker.current?.ask({ name, output, part, sample }), [name, output, part, sample]);
  useProgress(() => asker.current?.changed());
  useEffect(() => asker.current?.changed(), [state, live]);
  useEffect(() => {
    const end = place.current
      ? onVisible(place.current, (isVisible) => asker.current?.show(isVisible))
      : () => {};
    return () => {
      end();
      asker.current?.ask(null);
    };
  }, []);
  return { place, ...answer };
}

/**
 * @param {{count: number, testCount: number | null, sample: BatchChoice, onChoose: (sample: BatchChoice) => void}} props
 *   `testCount`: null without test data
 */
function SampleChoice({ count, testCount, sample, onChoose }) {
  const words = t().nodeTabs;
  const kind = kindOf(sample);
  return html`
    <label>${words.shownFor}
      <select value=${kind} data-testid="node-batch"
        onChange=${(/** @type {any} */ event) => onChoose(CHOICES[/** @type {keyof typeof CHOICES} */ (event.target.value)])}>
        <option value="last">${words.lastBatch}</option>
        <option value="first">${words.firstBatch}</option>
        <option value="sample">${words.oneSample(testCount !== null)}</option>
        ${testCount !== null && html`<option value="test">${words.oneTestSample}</option>`}
      </select>
    </label>
    ${kind === "sample" && html`<${SampleNumber} key=${kind} count=${count} value=${sample} testId="node-sample" onChoose=${onChoose} />`}
    ${
      kind === "test" &&
      testCount !== null &&
      html`<${SampleNumber} key=${kind} count=${testCount} testId="node-sample"
      value=${/** @type {{test: number}} */ (sample).test} onChoose=${(/** @type {number} */ test) => onChoose({ test })} />`
    }
  `;
}

/** What each choice begins with. @satisfies {Record<string, BatchChoice>} */
const CHOICES = { last: /** @type {const} */ ("last"), first: null, sample: 0, test: { test: 0 } };

/** @param {BatchChoice} sample @returns {keyof typeof CHOICES} */
function kindOf(sample) {
  if (typeof sample === "number") return "sample";
  return sample === "last" ? sample : sample === null ? "first" : "test";
}

/** @param {string} text @param {number} least @param {number} most @param {number} otherwise */
function whole(text, least, most, otherwise) {
  const number = text.trim() === "" ? NaN : Math.round(Number(text));
  return Number.isFinite(number) ? Math.min(most, Math.max(least, number)) : otherwise;
}

/** @param {{summary: Summary, pictures: NodePictures | null}} props */
function Shown({ summary, pictures }) {
  const words = t().nodeTabs;
  return html`
    <p class="node-shape"><code>${summary.dtype}</code> ${shape(summary.shape)}</p>
    <dl class="node-statistics" data-testid="node-statistics">
      ${STATISTICS.map(
        (name) => html`
        <div key=${name} data-alarm=${(name === "nan" || name === "inf") && summary.statistics[name] ? "" : undefined}>
          <dt>${words.statistics[name]}</dt><dd data-statistic=${name}>${number(name, summary.statistics[name])}</dd>
        </div>
      `,
      )}
    </dl>
    ${summary.count === 0 && html`<p class="hint">${words.empty}</p>`}
    ${summary.histogram && summary.count > 1 && html`<${ValueHistogram} histogram=${summary.histogram} />`}
    ${pictures && html`<${ValuePictures} pictures=${pictures} />`}
    ${summary.count > 1 && html`<${ValueGrid} grid=${summary.grid} />`}
  `;
}

/** @param {string} name @param {number | null | undefined} value */
function number(name, value) {
  if (value === null || value === undefined) return "–";
  if (name === "zeros") return `${tick(100 * value)}%`;
  return Number.isFinite(value) ? tick(value) : String(value).replace("Infinity", "∞");
}
