import { html, useState } from "../../vendor/preact.js";
import { change, program } from "../blocks-model.js";
import { POINTS } from "../blocks/data.js";
import { setClass } from "../blocks/edits.js";
import { t } from "../locale.js";
import { isHeld } from "../locks.js";
import { BlockField, Row } from "./block-fields.js";
import { YourDataButton } from "./brought-card.js";
import { Icon } from "./icons.js";
import { LockMark } from "./lock-mark.js";

/** @import { Field } from "../blocks/catalogue.js" */
/** @import { Call } from "../blocks/types.js" */

/** Shapes of one sample. @type {Record<string, string>} */
const SHAPES = { mnist: "28 × 28", spiral: "2", circle: "2", xor: "2", gauss: "2" };

/** The name of a data set. @param {string} kind */
const titleOf = (kind) => t().blocks.data.sets[/** @type {"mnist"} */ (kind)];

/** @type {Field[]} */
const FIELDS = [
  { parameter: "noise", label: "noise", type: "number", least: 0, most: 0.5, step: 0.01 },
  { parameter: "samples", label: "points", type: "count", least: 10, most: 20000 },
  { parameter: "seed", label: "pointsSeed", type: "count", least: 0 },
];

/** A data set of the library. @param {{call: Call, number: number}} props */
export function DataCard({ call, number }) {
  const [explained, setExplained] = useState(false);
  const isPoints = POINTS.includes(call.kind);
  const id = `data-${number}`;
  const choices = isPoints ? POINTS : [call.kind];
  /** @param {any} event */
  const choose = ({ target }) =>
    change(setClass(program.value, call, `data.${target.value}`), t().blocks.said.data(titleOf(target.value)));
  const words = t().blocks.data;
  const label = t().blocks.card.aboutThis;
  return html`<section class="block data-card" data-testid="data-card" aria-label=${words.title}>
    <div class="block-head">
      <h3>${words.title}</h3>
      <span class="block-measure"><b title=${words.shape}>${SHAPES[call.kind]}</b></span>
      <div class="block-actions">${isHeld(call) && html`<${LockMark} />`}<button type="button" class="button quiet icon-only" aria-label=${label} title=${label}
        aria-expanded=${explained} onClick=${() => setExplained(!explained)}><${Icon} name="question" /></button></div>
    </div>
    ${explained && html`<p class="block-about">${t().blocks.about.data}</p>`}
    <div class="block-fields">
      <${Row} label=${t().blocks.fields.set} id=${id} piece=${call}>
        <select id=${id} data-testid="dataset-select" value=${call.kind} onChange=${choose}>
          ${choices.map((kind) => html`<option key=${kind} value=${kind} selected=${kind === call.kind}>${titleOf(kind)}</option>`)}
        </select>
      </${Row}>
      ${isPoints && FIELDS.map((field) => html`<${BlockField} key=${field.parameter} call=${call} field=${field}
        id=${`${id}-${field.parameter}`} />`)}
      <${YourDataButton} />
    </div>
  </section>`;
}
