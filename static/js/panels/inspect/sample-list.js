import { html, useMemo, useState } from "../../../vendor/preact.js";
import { classNames, columnNames, nameOfClass } from "../../words/class-names.js";
import { SamplePicture } from "../../components/image-strip.js";
import { NONE, loss, percent, tick } from "../../words/format.js";
import { openLayers } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { floats } from "../../training/task.js";
import { isWrong } from "./sample-cache.js";

/** @import { SampleRows } from "../../../engine/messages.js" */
/** @import { Samples } from "./sample-cache.js" */

/** Samples that are added at a time. */
const MORE = 24;

/**
 * Samples with truth and prediction: pictures, texts or rows of a table.
 * @param {{samples: Samples, numbers: number[], most?: number}} props `most`: are shown at first
 */
export function SampleList({ samples, numbers, most = MORE }) {
  const [shown, setShown] = useState(most);
  const first = numbers.slice(0, shown);
  const { rows } = samples.data;
  return html`
    ${
      rows
        ? html`<${SampleTable} samples=${samples} rows=${rows} numbers=${first} />`
        : html`
      <ol class="sample-cards" data-texts=${samples.data.texts ? "" : undefined}>
        ${first.map((at) => html`<li key=${at} data-sample=${at}><${SampleCard} samples=${samples} at=${at} /></li>`)}
      </ol>`
    }
    ${
      shown < numbers.length &&
      html`<button type="button" class="button quiet small" onClick=${() => setShown(shown + MORE)}>
      ${t().inspectSamples.more(Math.min(MORE, numbers.length - shown), numbers.length)}</button>`
    }
  `;
}

/** The true and the predicted class or number in words. @param {Samples} samples @param {number} at */
export function verdictOf({ data, truth, predicted }, at) {
  if (data.classes === 0) return { truth: tick(truth[at]), predicted: tick(predicted[at]) };
  const names = classNames();
  const said = predicted[at] < 0 ? t().inspectSamples.noClass : nameOfClass(predicted[at], names);
  return { truth: nameOfClass(truth[at], names), predicted: said };
}

/** A sample with its verdict. @param {{samples: Samples, at: number}} props */
export function SampleCard({ samples, at }) {
  const { data, chances, losses } = samples;
  const words = t().inspectSamples;
  const { truth, predicted } = verdictOf(samples, at);
  const wrong = isWrong(samples, at);
  return html`
    <div class="sample-card" data-wrong=${wrong ? "" : undefined}>
      ${data.pictures && html`<${SamplePicture} pictures=${data.pictures} at=${at} />`}
      ${data.texts && html`<p class="sample-words">${data.texts[at]}</p>`}
      ${data.rows && html`<${RowValues} rows=${data.rows} at=${at} />`}
      <p class="sample-verdict">
        ${data.classes > 0 && html`<span class="sample-mark" role="img" aria-label=${wrong ? words.wrong : words.right}>${wrong ? "✗" : "✓"}</span>`}
        <span>${words.truth} <b>${truth}</b>, ${words.predicted} <b class="sample-said">${predicted}</b></span>
        <span class="sample-loss">${chances && predicted !== words.noClass && `${percent(chances[at], 0)}, `}${words.loss} ${loss(losses[at])}</span>
        <${NumberLink} number=${samples.numbers[at]} />
      </p>
    </div>
  `;
}

/** The number of a sample, which opens it in the view of layers. @param {{number: number}} props */
function NumberLink({ number }) {
  const words = t().inspectSamples;
  return html`<button type="button" class="sample-link" data-testid="sample-link" title=${words.look} aria-label=${words.lookAt(number)}
    onClick=${() => openLayers(number)}>${words.number(number)}</button>`;
}

/** The names of the columns that are shown. @param {SampleRows} rows */
function namesOf({ columns, all }) {
  const names = columnNames();
  return Array.from({ length: columns }, (_, at) =>
    names.length === all ? names[at] : t().inspectSamples.column(at + 1),
  );
}

/** @param {{rows: SampleRows, at: number}} props */
function RowValues({ rows, at }) {
  const values = useMemo(() => floats(rows.values), [rows]);
  return html`<dl class="sample-values">${namesOf(rows).map(
    (name, column) => html`
    <div key=${column}><dt>${name}</dt><dd>${tick(values[rows.columns * at + column])}</dd></div>`,
  )}</dl>`;
}

/** @param {{samples: Samples, rows: SampleRows, numbers: number[]}} props */
function SampleTable({ samples, rows, numbers }) {
  const { chances, losses } = samples;
  const words = t().inspectSamples;
  const values = useMemo(() => floats(rows.values), [rows]);
  const names = namesOf(rows);
  const left = rows.all - rows.columns;
  return html`
    <div class="sample-scroll" tabindex="0" role="region" aria-label=${words.title}><table class="sample-table">
      <thead><tr>
        <th scope="col">${words.numberColumn}</th><th scope="col">${words.truth}</th><th scope="col">${words.predicted}</th>
        ${chances && html`<th scope="col">${words.probability}</th>`}
        <th scope="col">${words.loss}</th>
        ${names.map((name, at) => html`<th key=${at} scope="col" class="sample-input" title=${name}>${name}</th>`)}
      </tr></thead>
      <tbody>${numbers.map((at) => {
        const { truth, predicted } = verdictOf(samples, at);
        return html`<tr key=${at} data-sample=${at} data-wrong=${isWrong(samples, at) ? "" : undefined}>
          <td data-label=${words.numberColumn}><${NumberLink} number=${samples.numbers[at]} /></td>
          <td data-label=${words.truth}>${truth}</td><td class="sample-said" data-label=${words.predicted}>${predicted}</td>
          ${chances && html`<td data-label=${words.probability}>${samples.predicted[at] < 0 ? NONE : percent(chances[at], 0)}</td>`}
          <td data-label=${words.loss}>${loss(losses[at])}</td>
          ${names.map((name, column) => html`<td key=${column} class="sample-input" data-label=${name}>${tick(values[rows.columns * at + column])}</td>`)}
        </tr>`;
      })}</tbody>
    </table></div>
    ${left > 0 && html`<p class="hint">${words.columnsLeft(left)}</p>`}
  `;
}
