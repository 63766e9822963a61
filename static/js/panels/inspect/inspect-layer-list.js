import { html, useEffect } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { chosenLayer } from "../../training/inspected-layer.js";
import { layerLine, shownLayers } from "../../training/layer-links.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";

/** @import { LayersView } from "../../../engine/messages.js" */

/** The layers, one of which is chosen here, at its line in the code, or at its block. @param {{view: LayersView}} props */
export function LayerList({ view: { lines, layer } }) {
  const words = t().inspectLayers;
  const chosen =
    lines.find(({ name }) => name === chosenLayer.value) ??
    lines.find(({ name }) => name === layer) ??
    lines[0];
  const at = lines.indexOf(chosen);
  const line = layerLine.value;
  useEffect(() => {
    shownLayers.value = { lines, layer: chosen.name };
  }, [lines, chosen.name]);
  useEffect(
    () => () => {
      shownLayers.value = null;
    },
    [],
  );
  return html`
    <div class="inspect-layer-list">
      <div class="layer-slider">
        <label for="layer-slider">${words.layerPlace(at + 1, lines.length)}</label>
        ${
          line !== null &&
          html`<button type="button" class="link" data-testid="layer-to-code"
          onClick=${() => store.revealLine(line)}>${t().graph.node.line(line)}</button>`
        }
        <input type="range" id="layer-slider" data-testid="layer-slider" min="0" max=${lines.length - 1} step="1" value=${at}
          aria-valuetext=${words.layerName(chosen.name, chosen.type)} onInput=${(
            /** @type {Event} */ event,
          ) => {
            chosenLayer.value =
              lines[/** @type {HTMLInputElement} */ (event.currentTarget).valueAsNumber].name;
          }} />
      </div>
      <ul class="layer-list" aria-label=${words.layers}>
        ${lines.map(
          ({ name, type, shape, parameters }) => html`
          <li key=${name}><button type="button" class="layer-line" data-testid=${`layer-${name}`} aria-pressed=${name === chosen.name}
            onClick=${() => (chosenLayer.value = name)}><span><b>${name}</b><i>${type}</i></span>
            <span><i>${format.shape(shape)}</i><i>${parameters > 0 ? words.parameters(parameters) : ""}</i></span></button></li>
        `,
        )}
      </ul>
      ${line !== null && html`<p class="hint">${words.layerHint}</p>`}
    </div>
  `;
}
