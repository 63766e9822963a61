import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../words/locale.js";

/**
 * A field for the number of a sample, as the program's arrays count them: from 0. What is not the number of a
 * sample is said, and chooses none.
 * @param {{count: number, value: number, onChoose: (number: number) => void, testId: string}} props
 */
export function SampleNumber({ count, value, onChoose, testId }) {
  const words = t().sampleNumber;
  const [refused, setRefused] = useState("");
  useEffect(() => setRefused(""), [value, count]);
  const label = words.label(count - 1);
  const choose = (/** @type {any} */ { currentTarget: field }) => {
    const text = field.value.trim();
    const number = Number(text);
    const isSample = text !== "" && Number.isInteger(number) && number >= 0 && number < count;
    if (isSample) onChoose(number);
    setRefused(isSample ? "" : words.refused(text, count));
    if (!isSample) field.value = String(value);
  };
  return html`
    <input class="sample-number" type="number" min="0" max=${count - 1} step="1" value=${value} data-testid=${testId}
      aria-label=${label} title=${label} onChange=${choose} />
    ${refused && html`<span class="sample-refused" role="alert" data-testid="${testId}-refused">${refused}</span>`}
  `;
}
