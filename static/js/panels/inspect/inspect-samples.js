import { html, useMemo, useState } from "../../../vendor/preact.js";
import { classNames, nameOfClass } from "../../words/class-names.js";
import { ConfusionCounts } from "../../components/confusion-table.js";
import { confusionOf, hardestOf } from "../../pictures/confusion.js";
import { count, percent, tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { OneSample } from "./inspect-one-sample.js";
import { askSamples } from "./sample-cache.js";
import { SampleList } from "./sample-list.js";
import { useView } from "./use-view.js";

/** @import { Samples } from "./sample-cache.js" */

const HARDEST = 12;
/** Of which a table is drawn. */
const MOST_CLASSES = 30;

/** The network on single samples: a confusion matrix, and the samples that it finds hardest. */
export const SamplesView = () => html`<${Asked} View=${Judged} />`;

/** The confusion matrix alone. */
export const ConfusionPicture = () => html`<${Asked} View=${Classes} />`;

/** The hardest samples alone. */
export const HardestPicture = () => html`<${Asked} View=${Hardest} />`;

/** @param {{View: (props: {samples: Samples}) => any}} props of the samples that the network was asked for */
function Asked({ View }) {
  const { answer, problem } = useView(askSamples, []);
  const words = t().inspectSamples;
  return html`
    <div class="inspect-body">
      ${problem && html`<p class="hint" data-failed role="status">${problem}</p>`}
      ${!answer && !problem && html`<p class="hint">${t().inspect.asking}</p>`}
      ${answer?.shows === "none" && html`<p class="hint" data-testid="samples-none">${words.none[answer.reason]}</p>`}
      ${answer?.shows === "samples" && html`<${View} samples=${answer.samples} />`}
    </div>
  `;
}

/** @param {{samples: Samples}} props */
function Judged({ samples }) {
  return html`
    ${samples.data.classes > 0 ? html`<${Classes} samples=${samples} />` : html`<p class="hint">${errorOf(samples)}</p>`}
    <${OneSample} />
    <${Hardest} samples=${samples} />
  `;
}

/** @param {{samples: Samples}} props */
function Hardest({ samples }) {
  const words = t().inspectSamples;
  const { losses, data } = samples;
  const hardest = useMemo(() => hardestOf(losses), [samples]);
  return html`
    <section class="sample-part" data-testid="hardest" aria-labelledby="hardest-title">
      <h3 id="hardest-title">${data.classes > 0 ? words.hardest : words.largest}</h3>
      <${SampleList} samples=${samples} numbers=${hardest} most=${HARDEST} />
    </section>
  `;
}

/** The mean error in words. @param {Samples} samples */
function errorOf({ truth, predicted, data }) {
  const sum = truth.reduce((each, value, at) => each + Math.abs(value - predicted[at]), 0);
  return t().inspectSamples.error(
    tick(sum / truth.length),
    t().inspectSamples.samples(truth.length, data.total, data.tested),
  );
}

/** The confusion matrix, and the samples of a cell of it. @param {{samples: Samples}} props */
function Classes({ samples }) {
  const [open, setOpen] = useState(/** @type {[label: number, predicted: number] | null} */ (null));
  const [focused, setFocused] = useState(0);
  const words = t().inspectSamples;
  const { truth, predicted, losses, data } = samples;
  const { classes } = data;
  const { counts, right, counted } = useMemo(
    () => confusionOf(truth, predicted, classes),
    [samples],
  );
  const names = classNames();
  const which = words.samples(truth.length, data.total, data.tested);
  const isIn = (/** @type {number} */ at) =>
    open !== null && truth[at] === open[0] && predicted[at] === open[1];
  const inCell = open ? hardestOf(losses, isIn) : [];

  /** @param {KeyboardEvent} event */
  function move(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -classes, ArrowDown: classes }[event.key];
    const next = focused + (step ?? NaN);
    if (!(next >= 0 && next < classes ** 2)) return;
    event.preventDefault();
    setFocused(next);
    const table = /** @type {HTMLElement} */ (event.currentTarget);
    /** @type {HTMLElement} */ (table.querySelectorAll("tbody button")[next]).focus();
  }

  const cell = (
    /** @type {number} */ number,
    /** @type {number} */ label,
    /** @type {number} */ said,
  ) => {
    const isOpen = open?.[0] === label && open[1] === said;
    const place = classes * label + said;
    const title = words.cell(nameOfClass(label, names), nameOfClass(said, names), number);
    return html`<button type="button" data-testid="confusion-cell" aria-pressed=${isOpen} title=${title} aria-label=${title}
      aria-disabled=${number === 0 && !isOpen ? "true" : undefined} tabindex=${place === focused ? 0 : -1}
      onFocus=${() => setFocused(place)}
      onClick=${() => (number > 0 || isOpen) && setOpen(isOpen ? null : [label, said])}>${count(number)}</button>`;
  };

  return html`
    <p class="hint">${words.rightOf(count(right), which, percent(right / Math.max(1, counted), 1))}
      ${counted < truth.length && html` <b class="sample-nan">${words.notCounted(truth.length - counted)}</b>`}</p>
    ${
      classes > MOST_CLASSES
        ? html`<p class="hint">${words.manyClasses(classes)}</p>`
        : html`
      <div class="confusion inspect-confusion" onKeyDown=${move}>
        <${ConfusionCounts} counts=${counts} names=${names} testId="confusion-matrix" content=${cell} />
      </div>
      ${
        open
          ? html`<section class="sample-part" data-testid="cell-samples" aria-live="polite" aria-labelledby="cell-title">
        <h3 id="cell-title">${words.cell(nameOfClass(open[0], names), nameOfClass(open[1], names), inCell.length)}</h3>
        <${SampleList} key=${open.join(" ")} samples=${samples} numbers=${inCell} />
      </section>`
          : html`<p class="hint">${words.press}</p>`
      }`
    }
  `;
}
