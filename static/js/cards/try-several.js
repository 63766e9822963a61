import { html } from "../../vendor/preact.js";
import { setArgument } from "../blocks/edits.js";
import { quoted, titleOf } from "../blocks/field-values.js";
import { applyChanges } from "../blocks/lists.js";
import { Icon } from "../components/icons.js";
import { isHeld } from "../sharing/locks.js";
import { offer } from "../trials/trials.js";
import { t } from "../words/locale.js";
import { change, program } from "./blocks-model.js";
import { pieceOf } from "./pieces.js";

/** @import { Field } from "../blocks/catalogue.js" */
/** @import { Call } from "../blocks/types.js" */

/** Types of fields of which several values can be tried. @type {ReadonlySet<string>} */
const TYPES = new Set(["choice", "count", "number", "size"]);

/**
 * A button that offers to try several values of a parameter.
 * @param {{call: Call, field: Field, label: string, text: string}} props `text`: of the value that it has
 */
export function TrySeveral({ call, field, label, text }) {
  if (!TYPES.has(field.type) || text === "" || isHeld(pieceOf(call, field.parameter))) return null;
  const changes = (/** @type {string} */ value) =>
    setArgument(program.value, call, field.parameter, quoted(value, program.value.text));
  const name = t().trials.open(label);
  return html`<button type="button" class="button quiet icon-only try-several" data-testid="try-several" aria-label=${name} title=${name}
    onClick=${() =>
      offer({
        label,
        field,
        text,
        sourceWith: (value) => applyChanges(program.value.text, changes(value)),
        write: (value) => change(changes(value), t().blocks.said.set(label, titleOf(value))),
      })}><${Icon} name="several" /></button>`;
}
