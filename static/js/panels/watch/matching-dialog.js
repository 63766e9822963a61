import { html, useEffect, useRef, useState } from "../../../vendor/preact.js";
import { Icon } from "../../components/icons.js";
import { shape } from "../../words/format.js";
import { t } from "../../words/locale.js";

/**
 * @import { Matching, MatchingRow } from "../../../engine/messages.js"
 * @typedef {Record<string, string>} Chosen the tensor of each slot
 */

/**
 * A table of the tensors of a file and the weights that they go into, which can be corrected.
 * @param {{file: string, matching: Matching, apply: (chosen: Chosen) => Promise<string | null>, close: () => void}} props
 *   `apply` resolves to the reason why the weights were not loaded, or null and takes the dialog away;
 *   `close`: nothing is to be loaded
 */
export function MatchingDialog({ file, matching, apply, close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [chosen, setChosen] = useState(() => first(matching.rows));
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);

  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    dialog.current?.showModal();
    return () => before?.focus?.();
  }, []);

  async function load() {
    setBusy(true);
    const reason = await apply(chosen);
    if (reason === null) return; // the dialog is gone
    setBusy(false);
    setProblem(reason);
  }

  const words = t().matching;
  const missing = matching.rows.filter((row) => !chosen[row.slot]).length;
  const used = new Set(Object.values(chosen));
  const unused = matching.tensors.filter((tensor) => !used.has(tensor.name));
  const status = missing ? words.missing(missing) : words.complete;
  return html`<dialog class="matching" data-testid="matching" aria-labelledby="matching-title" ref=${dialog} onClose=${close}>
    <div class="data-head">
      <h2 id="matching-title">${words.title}</h2>
      <button type="button" class="button quiet icon-only" aria-label=${words.close} title=${words.close} data-testid="matching-close"
        onClick=${close}><${Icon} name="close" /></button>
    </div>
    <p class="matching-about">${words.about(file, words.layouts[matching.layout])}</p>
    <div class="matching-rows">
      <table>
        <thead><tr><th scope="col">${words.weight}</th><th scope="col">${words.shape}</th><th scope="col">${words.tensor}</th><th scope="col">${words.by}</th></tr></thead>
        <tbody>${matching.rows.map(
          (row) => html`<${Row} key=${row.slot} row=${row} tensor=${chosen[row.slot] ?? ""}
          choose=${(/** @type {string} */ tensor) => setChosen({ ...chosen, [row.slot]: tensor })} />`,
        )}</tbody>
      </table>
    </div>
    ${
      unused.length > 0 &&
      html`<p class="hint matching-unused" data-testid="matching-unused">
      ${words.unused(unused.map((tensor) => `${tensor.name} ${shape(tensor.shape)}`))}</p>`
    }
    <div class="matching-foot">
      <p class="hint" role="status" data-testid="matching-status" data-failed=${problem ? "" : undefined}>${problem || status}</p>
      <button type="button" class="button" data-testid="matching-cancel" onClick=${close}>${words.cancel}</button>
      <button type="button" class="button primary" data-testid="matching-apply" disabled=${missing > 0 || isBusy} onClick=${load}>${words.apply}</button>
    </div>
  </dialog>`;
}

/** @param {{row: MatchingRow, tensor: string, choose: (tensor: string) => void}} props */
function Row({ row, tensor, choose }) {
  const words = t().matching;
  const weights = row.weights.join(", ");
  const how = !tensor
    ? words.how.none
    : row.how && tensor === row.tensor
      ? words.how[row.how]
      : words.how.hand;
  return html`<tr data-missing=${tensor ? undefined : ""}>
    <th scope="row">${weights}</th><td>${shape(row.shape)}</td>
    <td><select aria-label=${words.tensorFor(weights)} data-testid=${`matching-${row.slot}`} value=${tensor} disabled=${!row.choices.length}
      onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
      <option value="">${row.choices.length ? words.nothing : words.noSuchShape}</option>
      ${row.choices.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select></td>
    <td data-testid=${`matching-how-${row.slot}`}>${how}</td>
  </tr>`;
}

/** @param {MatchingRow[]} rows @returns {Chosen} */
const first = (rows) => Object.fromEntries(rows.map((row) => [row.slot, row.tensor ?? ""]));
