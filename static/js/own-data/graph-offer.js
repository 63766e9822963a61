import { html, useRef } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { itemsOf } from "./dropped-files.js";
import { seemsEdges } from "./graph-file.js";
import { isTable } from "./intake.js";

/**
 * Takes the other table of a graph, of which one was brought.
 * @param {{name: string, text: string, titles: string[], take: (items: import("./drawer-state.js").Item[]) => void}} props
 */
export function GraphOffer({ name, text, titles, take }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  /** @param {any} event */
  function choose({ target }) {
    const [other] = itemsOf(target.files);
    if (other) take([{ path: name, blob: new Blob([text]) }, other]);
    target.value = "";
  }
  if (!isTable(name)) return null;
  const words = t().dataGraphs;
  const isEdges = seemsEdges(titles);
  return html`<p class=${isEdges ? "data-warning graph-offer" : "hint graph-offer"} data-testid="graph-offer">
    <span>${isEdges ? words.seemsEdges : words.half}</span>
    <button type="button" class=${isEdges ? "button small" : "button quiet small"} data-testid="graph-add"
      onClick=${() => input.current?.click()}>${isEdges ? words.addNodes : words.addOther}</button>
    <input type="file" hidden accept=".csv,.tsv,.txt,.tab" data-testid="graph-add-file" aria-label=${words.addOther}
      ref=${input} onChange=${choose} />
  </p>`;
}
