import { html, useMemo, useState } from "../../vendor/preact.js";
import { shape } from "../words/format.js";
import { t } from "../words/locale.js";
import { arraysSet, firstArrayChoices, hasTest } from "./arrays-set.js";
import { attempt } from "./data-table-form.js";
import { SplitFields, UseData } from "./data-use.js";

/** @import { ArrayChoices, Arrays } from "./arrays-set.js" */

/** Arrays of NumPy. @param {{draft: {name: string, arrays: Arrays}}} props */
export function ArraysForm({ draft: { name, arrays } }) {
  const words = t().dataForms.arrays;
  const first = useMemo(() => attempt(() => firstArrayChoices(arrays, name)), [arrays]);
  return html`<section class="data-form" aria-label=${words.label(name)}>
    <h3>${name}</h3>
    <ul class="data-arrays" data-testid="data-arrays">
      ${[...arrays].map(([part, array]) => html`<li key=${part}><code>${part}</code> <span class="hint">${"texts" in array ? words.ofText(shape(array.shape)) : shape(array.shape)}</span></li>`)}
    </ul>
    ${
      first.value
        ? html`<${ArrayChoicesForm} ...${{ name, arrays, first: first.value }} />`
        : html`<p class="data-problem" role="alert" data-testid="data-problem">${first.problem}</p>`
    }
  </section>`;
}

/** @param {{name: string, arrays: Arrays, first: ArrayChoices}} props */
function ArrayChoicesForm({ name, arrays, first }) {
  const [choices, setChoices] = useState(first);
  const change = (/** @type {Partial<ArrayChoices>} */ some) => setChoices({ ...choices, ...some });
  const { value: set, problem } = useMemo(
    () => attempt(() => arraysSet(arrays, name, choices)),
    [arrays, choices],
  );
  const words = t().dataForms.arrays;
  return html`
    <div class="data-fields">
      ${
        first.isClasses &&
        html`<label class="data-field"><span>${words.targets}</span>
        <select data-testid="data-label-type" value=${choices.isClasses ? "category" : "number"}
          onChange=${(/** @type {any} */ event) => change({ isClasses: event.target.value === "category" })}>
          <option value="category" selected=${choices.isClasses}>${words.classes}</option>
          <option value="number" selected=${!choices.isClasses}>${words.numbers}</option>
        </select></label>`
      }
      ${!(arrays.has("x_train") && hasTest(arrays)) && html`<${SplitFields} test=${choices.test} seed=${choices.seed} change=${change} />`}
      ${
        set?.shape.length === 1 &&
        html`<label class="data-check" title=${t().dataForms.normalizeIs}>
        <input type="checkbox" checked=${choices.normalized} onChange=${(/** @type {any} */ event) => change({ normalized: event.target.checked })} />
        ${t().dataForms.normalize}</label>`
      }
    </div>
    <${UseData} set=${set} problem=${problem} file=${name} />`;
}
