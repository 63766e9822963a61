/** Links the layer shown in Inspect with its line in the code. */

import { computed, signal } from "../../vendor/preact.js";
import { chosenLayer } from "./inspected-layer.js";
import * as store from "../state/store.js";

/** @import { LayerLine } from "../../engine/messages.js" */

/** The layers of the network, and the chosen one; null while the view is closed. */
export const shownLayers = signal(/** @type {{lines: LayerLine[], layer: string} | null} */ (null));

/** Whether a line of the program that ran is unchanged. @param {number} line */
function isSame(line) {
  const text = (/** @type {string} */ source) => source.split("\n")[line - 1];
  return store.linesApply.value && text(store.source.value) === text(store.executed.value.source);
}

/** The line that created the chosen layer; null if it is not in the code. */
export const layerLine = computed(() => {
  const line = shownLayers.value?.lines.find(({ name }) => name === shownLayers.value?.layer)?.line;
  return line && isSame(line) ? line : null;
});

/** Show one of these layers, unless it is shown already. @param {LayerLine[]} layers */
export function lookAtOneOf(layers) {
  if (layers.length > 0 && !layers.some(({ name }) => name === shownLayers.value?.layer))
    chosenLayer.value = layers[0].name;
}

/** Look at the layer that a line created, if there is one. @param {number} line */
export function lookAtLine(line) {
  if (shownLayers.value && isSame(line))
    lookAtOneOf(shownLayers.value.lines.filter((each) => each.line === line));
}
