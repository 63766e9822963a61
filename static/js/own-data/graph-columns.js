import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";

/** @import { GraphChoice, GraphSide } from "../../engine/messages.js" */

/** More features are all used. */
const MOST_CHOICES = 40;

/**
 * A choice of a column.
 * @param {{label: string, name: string, columns: string[], value: string | null, none?: string, choose: (title: any) => void}} props
 *   `none`: the choice of no column, null
 */
export function ColumnSelect({ label, name, columns, value, none, choose }) {
  /** @param {any} event */
  const take = ({ target }) => choose(target.selectedIndex < first ? null : target.value);
  const first = none === undefined ? 0 : 1;
  return html`<label class="data-field"><span>${label}</span>
    <select data-testid=${name} onChange=${take}>
      ${none !== undefined && html`<option value="" selected=${value === null}>${none}</option>`}
      ${columns.map((title) => html`<option key=${title} value=${title} selected=${title === value}>${title}</option>`)}
    </select></label>`;
}

/**
 * The columns that are features of nodes.
 * @param {{side: GraphSide, choice: GraphChoice, change: (some: Partial<GraphChoice>) => void}} props
 */
export function FeatureChoice({ side, choice, change }) {
  const words = t().dataGraphs;
  const { id, label, features } = choice;
  const others = side.columns.filter((title) => title !== id && title !== label);
  const usable = others.filter((title) => side.usable[side.columns.indexOf(title)]);
  const texts = others.filter((title) => !usable.includes(title));
  const used = features.filter((title) => usable.includes(title));
  /** @param {string} title */
  const flip = (title) =>
    change({ features: usable.filter((each) => used.includes(each) !== (each === title)) });
  return html`
    ${
      usable.length > 0 &&
      usable.length <= MOST_CHOICES &&
      html`<div class="graph-features" role="group" aria-label=${words.features}><span class="hint">${words.features}</span>
        ${usable.map(
          (title) =>
            html`<label class="data-check" key=${title}><input type="checkbox" data-testid="graph-feature" value=${title} checked=${used.includes(title)}
          onChange=${() => flip(title)} />${title}</label>`,
        )}</div>`
    }
    ${used.length === 0 && html`<p class="hint" data-testid="graph-plain">${words.plain}</p>`}
    ${texts.length > 0 && html`<p class="hint">${words.leftOut(texts.slice(0, 8), texts.length > 8)}</p>`}`;
}
