import { html, useState } from "../../vendor/preact.js";
import { change, program } from "../blocks-model.js";
import { ABOUT } from "../blocks/catalogue.js";
import { POINTS } from "../blocks/data.js";
import { setClass } from "../blocks/edits.js";
import { BlockField, Row } from "./block-fields.js";
import { YourDataButton } from "./brought-card.js";
import { Icon } from "./icons.js";

/** @import { Field } from "../blocks/catalogue.js" */
/** @import { Call } from "../blocks/types.js" */

/** @type {Record<string, {title: string, shape: string}>} */
const SETS = {
  mnist: { title: "Handwritten digits (MNIST)", shape: "28 × 28" },
  spiral: { title: "Two spirals", shape: "2" },
  circle: { title: "Disc and ring", shape: "2" },
  xor: { title: "Opposite corners (xor)", shape: "2" },
  gauss: { title: "Two clouds", shape: "2" },
};

/** @type {Field[]} */
const FIELDS = [
  { parameter: "noise", label: "Noise", type: "number", least: 0, most: 0.5, step: 0.01 },
  { parameter: "samples", label: "Points", type: "count", least: 10, most: 20000 },
  { parameter: "seed", label: "Seed of the points", type: "count", least: 0 },
];

/** A data set of the library. @param {{call: Call, number: number}} props */
export function DataCard({ call, number }) {
  const [explained, setExplained] = useState(false);
  const isPoints = POINTS.includes(call.kind);
  const id = `data-${number}`;
  const choices = isPoints ? POINTS : [call.kind];
  /** @param {any} event */
  const choose = ({ target }) =>
    change(setClass(program.value, call, `data.${target.value}`), `Data: ${SETS[target.value].title}.`);
  const label = "What is this?";
  return html`<section class="block data-card" data-testid="data-card" aria-label="Data">
    <div class="block-head">
      <h3>Data</h3>
      <span class="block-measure"><b title="Shape of one sample">${SETS[call.kind].shape}</b></span>
      <div class="block-actions"><button type="button" class="button quiet icon-only" aria-label=${label} title=${label}
        aria-expanded=${explained} onClick=${() => setExplained(!explained)}><${Icon} name="question" /></button></div>
    </div>
    ${explained && html`<p class="block-about">${ABOUT.data}</p>`}
    <div class="block-fields">
      <${Row} label="Set" id=${id}>
        <select id=${id} data-testid="dataset-select" value=${call.kind} onChange=${choose}>
          ${choices.map((kind) => html`<option key=${kind} value=${kind} selected=${kind === call.kind}>${SETS[kind].title}</option>`)}
        </select>
      </${Row}>
      ${isPoints && FIELDS.map((field) => html`<${BlockField} key=${field.parameter} call=${call} field=${field}
        id=${`${id}-${field.parameter}`} />`)}
      <${YourDataButton} />
    </div>
  </section>`;
}
