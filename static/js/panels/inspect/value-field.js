import { html, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { rounded } from "../../training/inspected-layer.js";

/**
 * A number that the visitor can change; one that does not fit is replaced by the one before.
 * @param {{testId: string, value: number, whole: boolean, onValue: (value: number) => void, id?: string,
 *   described?: string}} props
 *   `whole`: integers from 0 to 255, else float32; `described`: the id of a description
 */
export function ValueField({ testId, value, whole, onValue, id, described }) {
  const text = String(rounded(value));
  const place = useRef(/** @type {HTMLInputElement | null} */ (null));
  // Not as an attribute: half-typed text stays when another answer of the engine is drawn.
  useLayoutEffect(() => {
    if (place.current) place.current.value = text;
  }, [text]);
  /** @param {Event} event */
  function onChange(event) {
    const field = /** @type {HTMLInputElement} */ (event.currentTarget);
    const entered = field.valueAsNumber;
    const fits = whole
      ? Number.isInteger(entered) && entered >= 0 && entered <= 255
      : Number.isFinite(Math.fround(entered));
    if (fits) onValue(entered);
    else field.value = text;
  }
  return html`<input type="number" class="value-field" id=${id} data-testid=${testId} step=${whole ? 1 : "any"} min=${whole ? 0 : undefined}
    max=${whole ? 255 : undefined} ref=${place} aria-describedby=${described} onChange=${onChange} />`;
}
