import { html, useState } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";

/**
 * A choice of one option.
 * @param {{label: string, id: string, value: string, options: {name: string, title: string}[],
 *          help?: string, onChange: (value: string) => void}} props `help`: explains the chosen option
 */
export function Choice({ label, id, value, options, help, onChange }) {
  return html`
    <div class="lab-field" data-wide>
      <label for=${id}>${label}</label>
      <select id=${id} data-testid=${id} value=${value} aria-describedby=${`${id}-help`}
        onChange=${(/** @type {any} */ event) => onChange(event.target.value)}>
        ${options.map(
          ({ name, title }) => html`
          <option key=${name} value=${name} selected=${name === value}>${title}</option>
        `,
        )}
      </select>
      <p id=${`${id}-help`} class="lab-help">${help}</p>
    </div>
  `;
}

/**
 * A whole number from `least` to `most`. Other input is corrected when the field loses the focus, with
 * a remark.
 * @param {{label: string, id: string, value: number | null, least: number, most: number,
 *          help?: string, isOptional?: boolean, onChange: (value: number | null) => void}} props
 *   `isOptional`: the field may be empty, for null
 */
export function Count({ label, id, value, least, most, help, isOptional, onChange }) {
  const [remark, setRemark] = useState("");

  /** @param {any} event */
  function take({ target }) {
    const entered = Math.round(Number(target.value));
    const isEmpty = target.value === "";
    const isNumber = Number.isFinite(entered) && !isEmpty;
    const fallback = isEmpty && isOptional ? null : value;
    const corrected = isNumber ? Math.min(most, Math.max(least, entered)) : fallback;
    target.value = corrected === null ? "" : String(corrected);
    setRemark(isNumber && corrected !== entered ? t().lab.fields.allowed(least, most) : "");
    onChange(corrected);
  }
  return html`
    <div class="lab-field">
      <label for=${id}>${label}</label>
      <input type="number" id=${id} data-testid=${id} inputmode="numeric" min=${least} max=${most}
        value=${value ?? ""} placeholder=${isOptional ? t().lab.fields.any : undefined}
        aria-describedby=${help || remark ? `${id}-help` : undefined} onChange=${take} />
      ${
        (help || remark) &&
        html`<p id=${`${id}-help`} class="lab-help">
        ${remark && html`<strong role="status">${remark}</strong>`}${help}</p>`
      }
    </div>
  `;
}
