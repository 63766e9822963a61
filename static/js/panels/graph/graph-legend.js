import { html } from "../../../vendor/preact.js";
import { computedNodes } from "../../engine/computed-nodes.js";
import { percent, tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { LEAST, UNKNOWN } from "./graph-heat.js";
import { PYTHON } from "./graph-items.js";

/** @typedef {import("../../../engine/messages.js").GraphNode} GraphNode */

const PHASES = /** @type {const} */ (["input", "variable", "forward", "gradient", "update"]);
/** In place of the device of a node that has none. */
const NOT_PLACED = "not placed";
const DEVICE_COLOURS = 8;

/** @param {GraphNode} node */
export const deviceOf = (node) => node.device ?? NOT_PLACED;

/** The colour of a node's device. @param {string[]} devices @param {GraphNode} node */
export const deviceClass = (devices, node) =>
  `device-${devices.indexOf(deviceOf(node)) % DEVICE_COLOURS}`;

/** The meaning of the colours. @param {{devices: string[]}} props */
export function Legend({ devices }) {
  const words = t().graph;
  return html`
    <ul class="graph-legend" aria-label=${words.legend}>
      ${entries(store.graphColours.value, devices).map(
        ([colour, name]) => html`
        <li key=${name}><span class="graph-swatch" data-colour=${colour}></span>${name}</li>
      `,
      )}
      ${
        Boolean(computedNodes.value?.python.size) &&
        html`<li data-testid="graph-python"><span class="graph-swatch-python" aria-hidden="true">${PYTHON}</span>${words.inPython}</li>`
      }
      <li><svg class="graph-swatch-line" viewBox="0 0 20 8" aria-hidden="true"><path d="M0 4h20" /></svg>${words.controlEdge}</li>
    </ul>
  `;
}

/**
 * @param {"phase" | "device" | "time" | "magnitude"} by
 * @param {string[]} devices
 * @returns {[string, string][]} colours and names
 */
function entries(by, devices) {
  const words = t().graph;
  if (by === "phase") return PHASES.map((phase) => [phase, words.phases[phase]]);
  if (by === "device") {
    return devices.map((name, index) => [
      `device-${index % DEVICE_COLOURS}`,
      name === NOT_PLACED ? words.notPlaced : name,
    ]);
  }
  const from = LEAST[by].map((least) =>
    by === "time" ? words.timeFrom(percent(least, 0)) : words.magnitudeFrom(tick(least)),
  );
  return [
    .../** @type {[string, string][]} */ (
      [words.lowest[by], ...from].map((name, at) => [`heat-${at}`, name])
    ),
    [UNKNOWN, words.notMeasured],
  ];
}
