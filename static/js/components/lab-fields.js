import { html } from "../../vendor/preact.js";

/**
 * One of several.
 * @param {{label: string, id: string, value: string, options: {name: string, title: string}[],
 *          disabled?: boolean, onChange: (value: string) => void}} props
 */
export function Choice({ label, id, value, options, disabled, onChange }) {
  return html`
    <label class="lab-field" data-disabled=${disabled ? "" : undefined}>
      <span>${label}</span>
      <select data-testid=${id} value=${value} disabled=${disabled}
        onChange=${(/** @type {any} */ event) => onChange(event.target.value)}>
        ${options.map(({ name, title }) => html`
          <option key=${name} value=${name} selected=${name === value}>${title}</option>
        `)}
      </select>
    </label>
  `;
}

/**
 * A whole number from `least` to `most`; anything else is put right when the field is left.
 * @param {{label: string, id: string, value: number, least: number, most: number, disabled?: boolean,
 *          onChange: (value: number) => void}} props
 */
export function Count({ label, id, value, least, most, disabled, onChange }) {
  /** @param {any} event */
  function take({ target }) {
    const wanted = Math.round(Number(target.value));
    const taken = Number.isFinite(wanted) && target.value !== ""
      ? Math.min(most, Math.max(least, wanted)) : value;
    target.value = String(taken);
    onChange(taken);
  }
  return html`
    <label class="lab-field" data-disabled=${disabled ? "" : undefined}>
      <span>${label}</span>
      <input type="number" data-testid=${id} inputmode="numeric" min=${least} max=${most} value=${value}
        disabled=${disabled} onChange=${take} />
    </label>
  `;
}
